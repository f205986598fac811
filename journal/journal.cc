#include "journal/journal.h"

#include <array>

#include "common/check.h"
#include "journal/chain.h"

namespace tornfs::journal {

// Every mutation starts here, before its first write, and ends by taking the poison back.
Status Journal::Poison() {
  if (poisoned_) {
    return Fail(ErrorKind::kPoisoned, "requires recovery after a failed mutation");
  }
  JOURNAL_TRY(RequireSequences());
  poisoned_ = true;
  return {};
}

// No number is ever used twice, so the last ones are never handed out. No mutation takes more than
// the four that are kept back here.
Status Journal::RequireSequences() const {
  if (sequence_ <= UINT64_MAX - 4) return {};
  return Fail(ErrorKind::kCapacity, "publication numbers are used up");
}

Status Journal::SyncRecords() {
  if (!On(Rule::kSyncRecordsBeforePublish)) return {};
  return data_->Sync();
}

Status Journal::Publish(const State& state) {
  return PublishAt(1 - SlotPosition(sequence_), state);
}

// Writes `state` to one slot under the lowest higher number that belongs there.
Status Journal::PublishAt(std::size_t position, const State& state) {
  const std::uint64_t step = SlotPosition(sequence_) == position ? 2 : 1;
  CHECK(sequence_ <= UINT64_MAX - step);
  std::array<std::byte, kBlockBytes> block;
  EncodeSlot({state, sequence_ + step}, block);
  JOURNAL_TRY(frontier_->WriteAt(position * kBlockBytes, block));
  if (On(Rule::kSyncFrontierOnPublish)) JOURNAL_TRY(frontier_->Sync());
  sequence_ += step;
  return {};
}

bool Journal::Stored(const Batch& batch, const PrepareHeader& header) const {
  if (header.op < first_op_ || header.op > batch.state.head) return false;
  const std::uint64_t index = header.op - first_op_;
  const Entry& entry =
      index < entries_.size() ? entries_[index] : batch.entries[index - entries_.size()];
  return entry.checksum == header.checksum;
}

Result<Journal::Batch> Journal::ValidateBatch(
    std::span<const std::span<const std::byte>> prepares) const {
  Batch batch;
  batch.state = state_;
  std::uint64_t retained = retained_bytes_;
  for (std::size_t i = 0; i < prepares.size(); ++i) {
    const auto header = DecodePrepare(prepares[i]);
    if (!header) return tl::make_unexpected(header.error());
    if (Stored(batch, *header)) continue;
    JOURNAL_TRY(CheckFollows(batch.state, *header));
    const std::uint64_t length = RecordLength(header->size).value();
    retained += length;
    if (retained > options_.capacity) {
      return Fail(ErrorKind::kCapacity, "the journal is full: checkpoint required");
    }
    batch.entries.push_back({batch.state.length, length, header->checksum, header->size});
    batch.items.push_back(i);
    Advance(batch.state, *header, length);
  }
  return batch;
}

Status Journal::AppendBatch(std::span<const std::span<const std::byte>> prepares) {
  if (poisoned_) return Poison();
  const auto batch = ValidateBatch(prepares);
  if (!batch) return tl::make_unexpected(batch.error());
  if (batch->entries.empty()) return {};
  std::vector<std::byte> extent(batch->state.length - state_.length);
  for (std::size_t i = 0; i < batch->entries.size(); ++i) {
    const Entry& entry = batch->entries[i];
    EncodeRecord(state_.generation, prepares[batch->items[i]],
                 std::span(extent).subspan(entry.position - state_.length, entry.length));
  }
  JOURNAL_TRY(Poison());
  JOURNAL_TRY(data_->WriteAt(state_.length, extent));
  entries_.insert(entries_.end(), batch->entries.begin(), batch->entries.end());
  retained_bytes_ += extent.size();
  state_ = batch->state;
  poisoned_ = false;
  return {};
}

Status Journal::Sync() {
  if (poisoned_) return Poison();
  if (durable_head_ == state_.head) return {};
  JOURNAL_TRY(Poison());
  JOURNAL_TRY(SyncRecords());
  JOURNAL_TRY(Publish(state_));
  durable_head_ = state_.head;
  poisoned_ = false;
  return {};
}

Status Journal::CertifyLogView(std::uint32_t view, std::uint64_t op, std::uint64_t checksum) {
  if (poisoned_) return Poison();
  const bool known = op >= state_.checkpoint && op <= state_.head;
  const bool matches =
      known && checksum == (op == state_.checkpoint ? state_.checkpoint_checksum
                                                    : entries_[op - first_op_].checksum);
  if (!matches) {
    return Fail(ErrorKind::kInvalid,
                "op " + std::to_string(op) + " is not in the journal with that checksum");
  }
  JOURNAL_TRY(Poison());
  JOURNAL_TRY(SyncRecords());
  State certified = state_;
  certified.certified_log_view = view;
  JOURNAL_TRY(Publish(certified));
  state_ = certified;
  durable_head_ = state_.head;
  poisoned_ = false;
  return {};
}

}  // namespace tornfs::journal
