// The mutations that end in a new generation, or leave no record behind: what each of them keeps.
#include <algorithm>

#include "common/hash.h"
#include "journal/journal.h"

namespace tornfs::journal {

SegmentCursor Journal::CursorBehind(std::uint64_t op, const SegmentCursor& least) const {
  for (std::uint64_t at = std::min(op, state_.head); at >= first_op_ && at != 0; --at) {
    const Entry& entry = entries_[at - first_op_];
    if (!entry.reference || !entry.HasMessages()) continue;
    if (entry.next_offset <= least.next_offset) return least;
    return {entry.reference->segment, entry.reference->end(), entry.next_offset};
  }
  return least;
}

Status Journal::CheckpointOp(std::uint64_t op) const {
  if (op <= state_.head) return {};
  return Fail(ErrorKind::kInvalid, "op " + std::to_string(op) + " is not in the journal");
}

Status Journal::Checkpoint(std::uint64_t op) {
  if (poisoned_) return Poison();
  if (op <= state_.checkpoint) return {};
  JOURNAL_TRY(CheckpointOp(op));
  Plan plan{state_, op, state_.head, {}, {}};
  plan.target.checkpoint = op;
  plan.target.checkpoint_checksum = entries_[op - first_op_].checksum;
  if (state_.segments && op > state_.purge_floor) {
    plan.target.segments->checkpoint = CursorBehind(op, state_.segments->checkpoint);
  }
  return Rewrite(plan);
}

// An error of writeback is reported to the handle that wrote; a handle opened later never sees it.
Status Journal::CheckpointFiles(std::uint64_t op, std::span<const MaterializedFile> files) {
  if (poisoned_) return Poison();
  if (op <= state_.checkpoint) return {};
  JOURNAL_TRY(CheckpointOp(op));
  JOURNAL_TRY(Poison());
  for (const MaterializedFile& file : files) {
    const auto fresh = storage_.Open(file.name, OpenMode::kReadWrite);
    if (!fresh) return tl::make_unexpected(fresh.error());
    File& handle = On(Rule::kSyncOriginalWriters) ? *file.writer : **fresh;
    JOURNAL_TRY(Barrier(handle.Sync()));
  }
  poisoned_ = false;
  return Checkpoint(op);
}

Status Journal::TruncateFrom(std::uint64_t op) {
  if (poisoned_) return Poison();
  if (op <= state_.checkpoint) {
    return Fail(ErrorKind::kInvalid, "op " + std::to_string(op) + " is at or below the checkpoint");
  }
  if (op > state_.head) return {};
  Plan plan{state_, std::max(first_op_, state_.checkpoint), op - 1, {}, {}};
  plan.target.certified_log_view.reset();
  if (state_.segments) {
    plan.target.segments->tail = CursorBehind(op - 1, state_.segments->checkpoint);
  }
  return Rewrite(plan);
}

Status Journal::MarkPurge(std::uint64_t generation, std::uint64_t floor) {
  if (poisoned_) return Poison();
  const bool newer = generation > state_.purge_generation ||
                     (generation == state_.purge_generation && floor > state_.purge_floor);
  if (!newer) return {};
  if (floor > state_.head) {
    return Fail(ErrorKind::kInvalid, "op " + std::to_string(floor) + " is not in the journal");
  }
  State marked = state_;
  marked.purge_generation = generation;
  marked.purge_floor = floor;
  if (state_.segments) {
    if (floor < state_.head) {
      return Fail(ErrorKind::kInvalid, "with segments a purge covers the whole journal");
    }
    if (marked.segments->next_generation == UINT64_MAX) {
      return Fail(ErrorKind::kCapacity, "segment generations are used up");
    }
    const SegmentCursor empty{{marked.segments->next_generation++, 0}, 0, 0};
    marked.segments->tail = empty;
    marked.segments->checkpoint = empty;
    return Rewrite({marked, std::max(first_op_, state_.checkpoint), state_.head, {}, {}});
  }
  JOURNAL_TRY(Poison());
  JOURNAL_TRY(SyncEverything());
  JOURNAL_TRY(PublishMetadata(marked));
  state_ = marked;
  durable_head_ = state_.head;
  poisoned_ = false;
  return {};
}

Status Journal::Reset(std::uint64_t op, std::optional<std::uint64_t> checksum) {
  if (poisoned_) return Poison();
  if (state_.segments) {
    return Fail(ErrorKind::kInvalid, "with segments a reset needs the checkpoint's segment");
  }
  if (op == UINT64_MAX) return Fail(ErrorKind::kCapacity, "op numbers are used up");
  Plan plan{state_, 1, 0, {}, {}};
  State& target = plan.target;
  target.checkpoint = op;
  target.checkpoint_checksum = checksum.value_or(0);
  target.anchor_known = checksum.has_value();
  target.certified_log_view.reset();
  target.references = false;
  return Rewrite(plan);
}

namespace {

// `target` as it is when everything starts at `header`.
void StartAt(const PrepareHeader& header, State& target) {
  target.checkpoint = header.op;
  target.checkpoint_checksum = header.checksum;
  target.anchor_known = true;
  target.certified_log_view.reset();
}

Result<PrepareHeader> CheckTransferred(PrepareView prepare, const State& state) {
  const auto header = DecodePrepare(prepare);
  if (!header) return tl::make_unexpected(header.error());
  if (header->group != state.group || header->op == 0) {
    return Fail(ErrorKind::kInvalid, "not a checkpoint of this group");
  }
  return header;
}

}  // namespace

Status Journal::ResetWithPrepare(PrepareView prepare) {
  if (poisoned_) return Poison();
  if (state_.segments) {
    return Fail(ErrorKind::kInvalid, "with segments a reset needs the checkpoint's segment");
  }
  const auto header = CheckTransferred(prepare, state_);
  if (!header) return tl::make_unexpected(header.error());
  Plan plan{state_, 1, 0, prepare, {}};
  StartAt(*header, plan.target);
  plan.target.references = false;
  return Rewrite(plan);
}

// Compares the end of the segment with the body; an empty reference when they differ.
Result<SegmentReference> Journal::CheckpointInPlace(PrepareView prepare,
                                                    const SegmentCursor& cursor) {
  const auto file =
      storage_.Open(InPartition(PublicName(cursor.segment.start_offset)), OpenMode::kRead);
  if (!file && IsMissing(file.error()) && cursor.length == 0) return SegmentReference{};
  if (!file) return tl::make_unexpected(file.error());
  const auto length = (*file)->Length();
  if (!length) return tl::make_unexpected(length.error());
  if (*length != cursor.length) {
    return Fail(ErrorKind::kInvalid, "the segment has " + std::to_string(*length) +
                                         " bytes instead of " + std::to_string(cursor.length));
  }
  const auto body = prepare.subspan(prepare_at::kBody);
  if (body.size() > cursor.length) return SegmentReference{};
  std::vector<std::byte> stored(body.size());
  const auto got = (*file)->ReadAt(cursor.length - body.size(), stored);
  if (!got) return tl::make_unexpected(got.error());
  if (!std::equal(body.begin(), body.end(), stored.begin())) return SegmentReference{};
  return SegmentReference{cursor.segment, cursor.length - body.size(), body.size()};
}

Status Journal::ResetWithSegments(PrepareView prepare, const SegmentCursor& cursor,
                                  std::uint64_t max_size) {
  if (poisoned_) return Poison();
  const auto header = CheckTransferred(prepare, state_);
  if (!header) return tl::make_unexpected(header.error());
  Plan plan{state_, 1, 0, prepare, {}};
  StartAt(*header, plan.target);
  SegmentState segments{max_size, highest_segment_ + 1, cursor, cursor};
  segments.tail.segment.generation = highest_segment_;
  segments.checkpoint = segments.tail;
  if (!IsValid(segments)) return Fail(ErrorKind::kInvalid, "impossible segment layout");
  auto place = CheckpointInPlace(prepare, segments.tail);
  if (!place) return tl::make_unexpected(place.error());
  if (place->length != 0 && IsValid(*place, *header)) plan.checkpoint_reference = *place;
  plan.target.references = true;
  plan.target.segments = segments;
  if (segments.tail.length > 0) {
    JOURNAL_TRY(Poison());
    JOURNAL_TRY(segments_.Retain(segments.tail.segment));
    poisoned_ = false;
  }
  highest_segment_ = segments.next_generation;
  return Rewrite(plan);
}

// Messages above the checkpoint must follow each other from `start_offset`: nothing has been
// touched yet, and half a migration would be none.
Status Journal::CheckMigration(std::uint64_t start_offset) const {
  std::uint64_t next = start_offset;
  for (std::uint64_t op = std::max(first_op_, state_.checkpoint + 1); op <= state_.head; ++op) {
    const Entry& entry = entries_[op - first_op_];
    if (!entry.HasMessages() || entry.reference || op <= state_.purge_floor) continue;
    if (entry.base_offset < start_offset) continue;
    if (entry.base_offset != next) {
      return Fail(ErrorKind::kInvalid, "messages of op " + std::to_string(op) +
                                           " start at offset " + std::to_string(entry.base_offset) +
                                           " and not at " + std::to_string(next));
    }
    next = entry.next_offset;
  }
  return {};
}

Status Journal::EnableSegments(std::uint64_t start_offset, std::uint64_t max_size) {
  if (poisoned_) return Poison();
  if (state_.segments) {
    if (state_.segments->max_size == max_size) return {};
    return Fail(ErrorKind::kInvalid, "segments are enabled with " +
                                         std::to_string(state_.segments->max_size) + " bytes");
  }
  const SegmentCursor empty{{highest_segment_, start_offset}, 0, start_offset};
  const SegmentState segments{max_size, highest_segment_ + 1, empty, empty};
  if (highest_segment_ == UINT64_MAX || !IsValid(segments)) {
    return Fail(ErrorKind::kInvalid, "impossible segment layout");
  }
  JOURNAL_TRY(CheckMigration(start_offset));
  Plan plan{state_, std::max(first_op_, state_.checkpoint), state_.head, {}, {}};
  plan.target.references = true;
  plan.target.segments = segments;
  highest_segment_ = segments.next_generation;
  return Rewrite(plan);
}

}  // namespace tornfs::journal
