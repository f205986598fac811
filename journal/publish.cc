// Publishing: the one step that decides what counts, and the barriers it stands on.
#include <array>

#include "common/check.h"
#include "common/log.h"
#include "journal/journal.h"

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

// After a failed fdatasync the system may call pages clean that it never wrote, and a later sync of
// the same bytes succeeds without writing them. The mark tells the next open, in this boot, that a
// read proves nothing. It need not be durable: a power loss takes the doubtful pages with it.
Status Journal::Barrier(Status result) {
  if (result || !On(Rule::kRewriteAfterFailedBarrier)) return result;
  const auto mark = storage_.Open(std::string(kSuspectName), OpenMode::kEnsure);
  if (!mark) LogWarning("journal: " + mark.error().Message());
  return result;
}

Status Journal::SyncSegments() {
  if (On(Rule::kSyncBodiesBeforePublish)) JOURNAL_TRY(segments_.SyncFiles());
  return On(Rule::kSyncLinksBeforePublish) ? segments_.SyncNames() : Status();
}

// The barriers over records and bodies. Neither releases anything by itself, so they may overlap.
Status Journal::SyncEverything() {
  const auto records = [this] {
    return On(Rule::kSyncRecordsBeforePublish) ? data_->Sync() : Status();
  };
  const auto bodies = [this] { return SyncSegments(); };
  if (!segments_.files_dirty() && !segments_.links_dirty()) return Barrier(records());
  if (storage_.SyncsConcurrently()) return Barrier(barrier_worker_.RunBoth(bodies, records));
  JOURNAL_TRY(Barrier(bodies()));
  return Barrier(records());
}

Status Journal::Publish(const State& state) {
  return PublishAt(1 - SlotPosition(sequence_), state);
}

// Writes `state` to one slot under the lowest higher number that belongs there.
Status Journal::PublishAt(std::size_t position, const State& state) {
  if (options_.protocol == Protocol::kRename) return PublishByRename(state);
  const std::uint64_t step = SlotPosition(sequence_) == position ? 2 : 1;
  CHECK(sequence_ <= UINT64_MAX - step);
  std::array<std::byte, kBlockBytes> block;
  EncodeSlot({state, sequence_ + step}, block, MagicOf(options_.protocol));
  JOURNAL_TRY(frontier_->WriteAt(position * kBlockBytes, block));
  if (On(Rule::kSyncFrontierOnPublish)) JOURNAL_TRY(Barrier(frontier_->Sync()));
  sequence_ += step;
  return {};
}

Status Journal::PublishByRename(const State& state) {
  std::array<std::byte, kBlockBytes> block;
  EncodeSlot({state, sequence_ + 1}, block, MagicOf(options_.protocol));
  const std::string temporary(kFrontierTemporaryName);
  auto file = storage_.Open(temporary, OpenMode::kCreate);
  if (!file) return tl::make_unexpected(file.error());
  JOURNAL_TRY((*file)->WriteAt(0, block));
  if (On(Rule::kSyncFrontierOnPublish)) JOURNAL_TRY(Barrier((*file)->Sync()));
  JOURNAL_TRY(storage_.Rename(temporary, std::string(kFrontierName)));
  if (On(Rule::kSyncDirectoryAfterRename)) JOURNAL_TRY(Barrier(storage_.SyncDirectory()));
  ++sequence_;
  return {};
}

Status Journal::PublishMetadata(const State& state) {
  JOURNAL_TRY(Publish(state));
  return On(Rule::kPublishMetadataTwice) ? Publish(state) : Status();
}

// Creates the frontier whole: both slots are synced before the name exists, so a visible frontier
// always has two good slots.
Status Journal::InstallFrontier(std::uint64_t base_sequence) {
  if (options_.protocol == Protocol::kRename) return PublishByRename(state_);
  std::array<std::byte, kFrontierBytes> blocks;
  for (std::uint64_t sequence = base_sequence + 1; sequence <= base_sequence + 2; ++sequence) {
    EncodeSlot({state_, sequence},
               std::span(blocks).subspan(SlotPosition(sequence) * kBlockBytes, kBlockBytes),
               MagicOf(options_.protocol));
  }
  const std::string temporary(kFrontierTemporaryName);
  auto file = storage_.Open(temporary, OpenMode::kCreate);
  if (!file) return tl::make_unexpected(file.error());
  JOURNAL_TRY((*file)->WriteAt(0, blocks));
  JOURNAL_TRY(Barrier((*file)->Sync()));
  JOURNAL_TRY(storage_.Rename(temporary, std::string(kFrontierName)));
  if (On(Rule::kSyncDirectoryAfterRename)) JOURNAL_TRY(Barrier(storage_.SyncDirectory()));
  frontier_ = std::move(*file);
  sequence_ = base_sequence + 2;
  return {};
}

}  // namespace tornfs::journal
