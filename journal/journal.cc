#include "journal/journal.h"

#include <algorithm>

#include "journal/chain.h"

namespace tornfs::journal {

bool Journal::Stored(const Batch& batch, const PrepareHeader& header) const {
  if (header.op < first_op_ || header.op > batch.state.head) return false;
  const std::uint64_t index = header.op - first_op_;
  const Entry& entry =
      index < entries_.size() ? entries_[index] : batch.entries[index - entries_.size()];
  return entry.checksum == header.checksum;
}

// The published length has a bound of its own, whatever the capacity.
Status Journal::RequireRoom(const State& state) const {
  if (state.length <= kPublishedBytesMax) return {};
  return Fail(ErrorKind::kCapacity, "the data file is full: checkpoint required");
}

Status Journal::AddToBatch(PrepareView prepare, const SegmentReference* reference, Batch& batch,
                           std::uint64_t& retained) const {
  auto entry = DescribePrepare(prepare, On(Rule::kValidateAtAppend));
  if (!entry) return tl::make_unexpected(entry.error());
  const PrepareHeader header = ReadPrepareHeader(prepare);
  if (Stored(batch, header)) return {};
  JOURNAL_TRY(CheckFollows(batch.state, header));
  if (reference != nullptr) {
    if (!IsValid(*reference, header) || !entry->HasMessages()) {
      return Fail(ErrorKind::kInvalid,
                  "the reference does not fit op " + std::to_string(header.op));
    }
    entry->reference = *reference;
    batch.state.references = true;
  } else if (batch.state.segments && entry->HasMessages()) {
    const auto place = Reserve(*batch.state.segments, entry->base_offset, entry->next_offset,
                               prepare.size() - prepare_at::kBody);
    if (!place) return tl::make_unexpected(place.error());
    entry->reference = *place;
  }
  entry->position = batch.state.length;
  entry->length = entry->reference ? kBlockBytes : RecordLength(prepare.size()).value();
  retained += RetainedBytes(*entry);
  if (retained > options_.capacity) {
    return Fail(ErrorKind::kCapacity, "the journal is full: checkpoint required");
  }
  Advance(batch.state, header, entry->length);
  batch.entries.push_back(*entry);
  batch.prepares.push_back(prepare);
  return RequireRoom(batch.state);
}

// Bodies, then one extent of records; all of it past what any slot covers.
Status Journal::WriteBatch(const Batch& batch) {
  std::vector<std::byte> extent(batch.state.length - state_.length);
  std::vector<BodyWrite> bodies;
  for (std::size_t i = 0; i < batch.entries.size(); ++i) {
    const Entry& entry = batch.entries[i];
    const auto out = std::span(extent).subspan(entry.position - state_.length, entry.length);
    if (entry.reference) {
      EncodeReferenceRecord(state_.generation, batch.prepares[i].first(prepare_at::kBody),
                            *entry.reference, out);
      bodies.push_back({*entry.reference, batch.prepares[i].subspan(prepare_at::kBody)});
    } else {
      EncodeRecord(state_.generation, batch.prepares[i], out);
    }
  }
  JOURNAL_TRY(Poison());
  if (batch.state.segments) {
    JOURNAL_TRY(segments_.Write(bodies, batch.state.segments->max_size));
  } else {
    for (const BodyWrite& write : bodies) JOURNAL_TRY(segments_.Retain(write.place.segment));
    // At once: the segments are the caller's, and no barrier of ours will come to them.
    if (On(Rule::kSyncLinksBeforePublish)) JOURNAL_TRY(Barrier(segments_.SyncNames()));
  }
  JOURNAL_TRY(data_->WriteAt(state_.length, extent));
  entries_.insert(entries_.end(), batch.entries.begin(), batch.entries.end());
  for (const Entry& entry : batch.entries) {
    retained_bytes_ += RetainedBytes(entry);
    if (!entry.reference || entry.reference->segment.generation == UINT64_MAX) continue;
    highest_segment_ = std::max(highest_segment_, entry.reference->segment.generation + 1);
  }
  state_ = batch.state;
  poisoned_ = false;
  return {};
}

Status Journal::AppendBatch(std::span<const PrepareView> prepares) {
  if (poisoned_) return Poison();
  if (!On(Rule::kReclaimOffAppend)) Reclaim();
  Batch batch;
  batch.state = state_;
  std::uint64_t retained = retained_bytes_;
  for (const PrepareView prepare : prepares) {
    JOURNAL_TRY(AddToBatch(prepare, nullptr, batch, retained));
  }
  return batch.entries.empty() ? Status() : WriteBatch(batch);
}

Status Journal::AppendReferences(std::span<const ReferencedPrepare> prepares) {
  if (poisoned_) return Poison();
  if (state_.segments) {
    return Fail(ErrorKind::kInvalid, "the journal assigns references itself");
  }
  Batch batch;
  batch.state = state_;
  std::uint64_t retained = retained_bytes_;
  for (const ReferencedPrepare& item : prepares) {
    JOURNAL_TRY(segments_.CheckReference(item.reference));
    JOURNAL_TRY(AddToBatch(item.prepare, &item.reference, batch, retained));
  }
  return batch.entries.empty() ? Status() : WriteBatch(batch);
}

Status Journal::Sync() {
  if (poisoned_) return Poison();
  if (durable_head_ == state_.head) return {};
  JOURNAL_TRY(Poison());
  JOURNAL_TRY(SyncEverything());
  JOURNAL_TRY(Publish(state_));
  durable_head_ = state_.head;
  if (state_.segments) segments_.KeepOnly(state_.segments->tail.segment);
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
  JOURNAL_TRY(SyncEverything());
  State certified = state_;
  certified.certified_log_view = view;
  JOURNAL_TRY(PublishMetadata(certified));
  state_ = certified;
  durable_head_ = state_.head;
  poisoned_ = false;
  return {};
}

Result<std::vector<std::byte>> Journal::Read(std::uint64_t op) {
  std::vector<std::byte> found;
  JOURNAL_TRY(ForEach(op, [&found](const PrepareHeader&, PrepareView prepare) {
    found.assign(prepare.begin(), prepare.end());
    return false;
  }));
  return found;
}

Status Journal::ForEach(std::uint64_t first,
                        const std::function<bool(const PrepareHeader&, PrepareView)>& visit) {
  if (first < first_op_ || first > state_.head) {
    return Fail(ErrorKind::kInvalid, "op " + std::to_string(first) + " is not in the journal");
  }
  SegmentReader segments(storage_);
  RecordReader reader(*data_, state_.generation, entries_[first - first_op_].position,
                      state_.length, &segments);
  while (!reader.AtEnd()) {
    const auto record = reader.Next();
    if (!record) return tl::make_unexpected(record.error());
    if (!visit(record->header, record->prepare)) return {};
  }
  return {};
}

std::uint64_t Journal::next_offset() const {
  if (state_.segments) return state_.segments->tail.next_offset;
  for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
    if (entry->HasMessages()) return entry->next_offset;
  }
  return 0;
}

}  // namespace tornfs::journal
