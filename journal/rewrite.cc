// Compaction by generation: checkpoint and truncate copy what they keep into a new data file and
// let one publication switch over. The old file stays until both slots name the new one.
#include <algorithm>

#include "common/check.h"
#include "journal/chain.h"
#include "journal/journal.h"

namespace tornfs::journal {
namespace {

// Records are copied through a buffer of about this size; a larger record has a buffer of its own.
constexpr std::size_t kCopyBytes = 1ULL << 20;

}  // namespace

Status Journal::Checkpoint(std::uint64_t op) {
  if (poisoned_) return Poison();
  if (op <= state_.checkpoint) return {};
  if (op > state_.head) {
    return Fail(ErrorKind::kInvalid, "op " + std::to_string(op) + " is not in the journal");
  }
  State target = state_;
  target.checkpoint = op;
  target.checkpoint_checksum = entries_[op - first_op_].checksum;
  return Rewrite(target);
}

Status Journal::TruncateFrom(std::uint64_t op) {
  if (poisoned_) return Poison();
  if (op <= state_.checkpoint) {
    return Fail(ErrorKind::kInvalid, "op " + std::to_string(op) + " is at or below the checkpoint");
  }
  if (op > state_.head) return {};
  State target = state_;
  target.head = op - 1;
  target.certified_log_view.reset();
  return Rewrite(target);
}

// Above every number on disk, used or left behind: a file that could not be deleted must never come
// to life again, and one that is deleted late must never be the live one.
Result<std::uint64_t> Journal::NextGeneration() const {
  const std::uint64_t used =
      On(Rule::kNextGenerationAboveDisk) ? highest_generation_ : state_.generation;
  if (used == UINT64_MAX) return Fail(ErrorKind::kCapacity, "generation numbers are used up");
  return used + 1;
}

// Copies ops [target.checkpoint, target.head] as far as they are stored, and makes length, head
// checksum and checkpoint_prepare of `target` say what was copied.
Status Journal::CopyRecords(File& to, State& target, std::vector<Entry>& entries) const {
  const std::uint64_t last = target.head;
  std::vector<std::byte> buffer;
  std::uint64_t written = 0;
  target.length = 0;
  target.head = target.checkpoint;
  target.head_checksum = target.checkpoint_checksum;
  target.checkpoint_prepare = false;
  for (std::uint64_t op = std::max(first_op_, target.checkpoint); op <= last; ++op) {
    const Entry& old = entries_[op - first_op_];
    RecordReader reader(*data_, state_.generation, old.position, old.position + old.length);
    const auto record = reader.Next();
    if (!record) return tl::make_unexpected(record.error());
    if (!buffer.empty() && buffer.size() + old.length > kCopyBytes) {
      JOURNAL_TRY(to.WriteAt(written, buffer));
      written += buffer.size();
      buffer.clear();
    }
    const std::size_t at = buffer.size();
    buffer.resize(at + old.length);
    EncodeRecord(target.generation, record->prepare, std::span(buffer).subspan(at));
    entries.push_back({target.length, old.length, old.checksum, old.payload_bytes});
    target.checkpoint_prepare |= op == target.checkpoint;
    target.head = op;
    target.head_checksum = old.checksum;
    target.length += old.length;
  }
  if (!buffer.empty()) JOURNAL_TRY(to.WriteAt(written, buffer));
  return {};
}

Status Journal::Rewrite(State target) {
  const auto generation = NextGeneration();
  if (!generation) return tl::make_unexpected(generation.error());
  JOURNAL_TRY(Poison());
  target.generation = *generation;
  auto data = storage_.Open(DataFileName(*generation), OpenMode::kCreate);
  if (!data) return tl::make_unexpected(data.error());
  highest_generation_ = std::max(highest_generation_, *generation);
  std::vector<Entry> entries;
  JOURNAL_TRY(CopyRecords(**data, target, entries));
  if (On(Rule::kSyncRecordsBeforePublish)) JOURNAL_TRY((*data)->Sync());
  if (On(Rule::kSyncDirectoryBeforePublish)) JOURNAL_TRY(storage_.SyncDirectory());
  // If the new slot is lost, the survivor leads back to the outgoing file, buffered tail included.
  if (On(Rule::kSyncOutgoingBeforeRewrite)) JOURNAL_TRY(data_->Sync());
  JOURNAL_TRY(Publish(target));
  if (On(Rule::kPublishTwiceAfterRewrite)) JOURNAL_TRY(Publish(target));

  obsolete_.push_back(DataFileName(state_.generation));
  data_ = std::move(*data);
  state_ = target;
  entries_ = std::move(entries);
  first_op_ = target.checkpoint + (target.checkpoint_prepare ? 0 : 1);
  retained_bytes_ = target.length;
  durable_head_ = target.head;
  poisoned_ = false;
  Reclaim();
  return {};
}

}  // namespace tornfs::journal
