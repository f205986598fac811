// Compaction by generation: what is kept is copied into a new data file, and one publication
// switches over. The old file stays until both slots name the new one.
#include <algorithm>

#include "common/check.h"
#include "journal/journal.h"

namespace tornfs::journal {
namespace {

// Records are copied through a buffer of about this size; a larger record has a buffer of its own.
constexpr std::size_t kCopyBytes = 1ULL << 20;

}  // namespace

// Fills a new data file, and computes the state and the entries that describe it.
class Journal::Copier {
 public:
  Copier(Journal& journal, File& to, const Plan& plan)
      : journal_(journal), to_(to), plan_(plan), state_(plan.target), reader_(journal.storage_) {}

  [[nodiscard]] Status Run() {
    state_.length = 0;
    state_.head = state_.checkpoint;
    state_.head_checksum = state_.checkpoint_checksum;
    state_.checkpoint_prepare = false;
    if (!plan_.checkpoint_prepare.empty()) {
      auto entry = DescribePrepare(plan_.checkpoint_prepare, true);
      if (!entry) return tl::make_unexpected(entry.error());
      entry->reference = plan_.checkpoint_reference;
      JOURNAL_TRY(Add(state_.checkpoint, *entry, plan_.checkpoint_prepare));
    }
    for (std::uint64_t op = plan_.first; op <= plan_.last; ++op) JOURNAL_TRY(Copy(op));
    return Flush();
  }

  [[nodiscard]] const State& state() const { return state_; }
  [[nodiscard]] std::vector<Entry>& entries() { return entries_; }

 private:
  Status Copy(std::uint64_t op) {
    Entry entry = journal_.entries_[op - journal_.first_op_];
    const bool owned = state_.segments.has_value();
    const bool purged = op <= state_.purge_floor;
    if (entry.reference && !(owned && purged)) return CopyReference(op, entry);
    RecordReader records(*journal_.data_, journal_.state_.generation, entry.position,
                         entry.position + entry.length, &reader_);
    const auto record = records.Next();
    if (!record) return tl::make_unexpected(record.error());
    entry.reference.reset();
    const bool pending = owned && !purged && op > state_.checkpoint && entry.HasMessages() &&
                         entry.base_offset >= state_.segments->tail.next_offset;
    if (pending) JOURNAL_TRY(MoveBody(entry, record->prepare));
    return Add(op, entry, record->prepare);
  }

  // The record of a reference holds a header and a place; the body need not be read for it.
  Status CopyReference(std::uint64_t op, const Entry& entry) {
    std::vector<std::byte> header(prepare_at::kBody);
    const auto got = journal_.data_->ReadAt(entry.position + record_at::kPayload, header);
    if (!got) return tl::make_unexpected(got.error());
    if (*got != header.size() || ReadPrepareHeader(header).checksum != entry.checksum) {
      return Fail(ErrorKind::kDamaged, "op " + std::to_string(op) + " has changed on the disk");
    }
    return Add(op, entry, header);
  }

  Status MoveBody(Entry& entry, PrepareView prepare) {
    const auto body = prepare.subspan(prepare_at::kBody);
    const auto place = Reserve(*state_.segments, entry.base_offset, entry.next_offset, body.size());
    if (!place) return tl::make_unexpected(place.error());
    const BodyWrite write{*place, body};
    JOURNAL_TRY(journal_.segments_.Write(std::span(&write, 1), state_.segments->max_size));
    entry.reference = *place;
    return {};
  }

  Status Add(std::uint64_t op, Entry entry, PrepareView prepare) {
    entry.position = state_.length;
    entry.length = entry.reference ? kBlockBytes : RecordLength(prepare.size()).value();
    if (!buffer_.empty() && buffer_.size() + entry.length > kCopyBytes) JOURNAL_TRY(Flush());
    const std::size_t at = buffer_.size();
    buffer_.resize(at + entry.length);
    const auto out = std::span(buffer_).subspan(at);
    if (entry.reference) {
      EncodeReferenceRecord(state_.generation, prepare.first(prepare_at::kBody), *entry.reference,
                            out);
    } else {
      EncodeRecord(state_.generation, prepare, out);
    }
    state_.checkpoint_prepare |= op == state_.checkpoint;
    state_.head = op;
    state_.head_checksum = entry.checksum;
    state_.length += entry.length;
    entries_.push_back(entry);
    return journal_.RequireRoom(state_);
  }

  Status Flush() {
    if (buffer_.empty()) return {};
    JOURNAL_TRY(to_.WriteAt(written_, buffer_));
    written_ += buffer_.size();
    buffer_.clear();
    return {};
  }

  Journal& journal_;
  File& to_;
  const Plan& plan_;
  State state_;
  SegmentReader reader_;
  std::vector<Entry> entries_;
  std::vector<std::byte> buffer_;
  std::uint64_t written_ = 0;
};

// Above every number on disk, used or left behind: a file that could not be deleted must never come
// to life again, and one that is deleted late must never be the live one.
Result<std::uint64_t> Journal::NextGeneration() const {
  const std::uint64_t used =
      On(Rule::kNextGenerationAboveDisk) ? highest_generation_ : state_.generation;
  if (used == UINT64_MAX) return Fail(ErrorKind::kCapacity, "generation numbers are used up");
  return used + 1;
}

Status Journal::Rewrite(const Plan& wanted) {
  Plan plan = wanted;
  const auto generation = NextGeneration();
  if (!generation) return tl::make_unexpected(generation.error());
  JOURNAL_TRY(Poison());
  plan.target.generation = *generation;
  auto data = storage_.Open(DataFileName(*generation), OpenMode::kCreate);
  if (!data) return tl::make_unexpected(data.error());
  highest_generation_ = std::max(highest_generation_, *generation);
  Copier copier(*this, **data, plan);
  JOURNAL_TRY(copier.Run());
  JOURNAL_TRY(Barrier(SyncSegments()));
  if (On(Rule::kSyncRecordsBeforePublish)) JOURNAL_TRY(Barrier((*data)->Sync()));
  if (On(Rule::kSyncDirectoryBeforePublish)) JOURNAL_TRY(Barrier(storage_.SyncDirectory()));
  // If the new slot is lost, the survivor leads back to the outgoing file, buffered tail included.
  if (On(Rule::kSyncOutgoingBeforeRewrite)) JOURNAL_TRY(Barrier(data_->Sync()));
  const State& state = copier.state();
  JOURNAL_TRY(Publish(state));
  if (On(Rule::kPublishTwiceAfterRewrite)) JOURNAL_TRY(Publish(state));

  const bool rolled_back = state.segments && state_.segments &&
                           state.segments->tail.next_offset != state_.segments->tail.next_offset;
  reclaimer_.Add(DataFileName(state_.generation));
  std::set<SegmentKey> unnamed = NamedSegments(state_, entries_);
  for (const SegmentKey& key : NamedSegments(state, copier.entries())) unnamed.erase(key);
  for (const SegmentKey& key : unnamed) reclaimer_.Add(RetainedName(key));
  data_ = std::move(*data);
  state_ = state;
  entries_ = std::move(copier.entries());
  first_op_ = state.checkpoint + (state.checkpoint_prepare ? 0 : 1);
  retained_bytes_ = 0;
  for (const Entry& entry : entries_) retained_bytes_ += RetainedBytes(entry);
  durable_head_ = state.head;
  if (state_.segments) {
    segments_.KeepOnly(state_.segments->tail.segment);
    if (rolled_back) JOURNAL_TRY(Barrier(segments_.Settle(*state_.segments)));
  }
  poisoned_ = false;
  if (!options_.reclaim_later) Reclaim();
  return {};
}

}  // namespace tornfs::journal
