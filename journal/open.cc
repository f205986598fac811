// Opening: acting on what recovery.h decided. Every function here writes; none of them decides what
// counts.
#include <algorithm>
#include <array>

#include "common/check.h"
#include "common/log.h"
#include "journal/journal.h"

namespace tornfs::journal {
namespace {

Status CheckCapacity(std::uint64_t capacity) {
  if (capacity >= kCapacityMin && capacity <= kCapacityMax && capacity % kBlockBytes == 0) {
    return {};
  }
  return Fail(ErrorKind::kUnsupported, "capacity must be a multiple of 4096 between " +
                                           std::to_string(kCapacityMin) + " and " +
                                           std::to_string(kCapacityMax) + " bytes");
}

}  // namespace

Result<std::unique_ptr<Journal>> Journal::Open(Storage& storage, const Options& options) {
  JOURNAL_TRY(CheckCapacity(options.capacity));
  JOURNAL_TRY(storage.CreateDirectory());
  std::unique_ptr<Journal> journal(new Journal(storage, options));
  if (journal->On(Rule::kLockDirectory)) JOURNAL_TRY(storage.Lock(std::string(kLockName)));
  auto view = LoadFrontier(storage, OpenMode::kReadWrite, options);
  if (!view) return tl::make_unexpected(view.error());
  if (view->file) {
    JOURNAL_TRY(journal->Adopt(std::move(*view)));
  } else {
    JOURNAL_TRY(journal->CreateFresh());
  }
  journal->durable_head_ = journal->state_.head;
  return journal;
}

// The data file's name is durable before a frontier that needs it can be.
Status Journal::CreateFresh() {
  const Identity identity = options_.identity.value_or(Identity{});
  state_.group = identity.group;
  state_.incarnation = identity.incarnation;
  auto data = storage_.Open(DataFileName(0), OpenMode::kCreate);
  if (!data) return tl::make_unexpected(data.error());
  data_ = std::move(*data);
  if (On(Rule::kSyncDirectoryBeforeFrontier)) JOURNAL_TRY(storage_.SyncDirectory());
  return InstallFrontier(0);
}

// Creates the frontier whole: both slots are synced before the name exists, so a visible frontier
// always has two good slots.
Status Journal::InstallFrontier(std::uint64_t base_sequence) {
  std::array<std::byte, kFrontierBytes> blocks;
  for (std::uint64_t sequence = base_sequence + 1; sequence <= base_sequence + 2; ++sequence) {
    EncodeSlot({state_, sequence},
               std::span(blocks).subspan(SlotPosition(sequence) * kBlockBytes, kBlockBytes));
  }
  const std::string temporary(kFrontierTemporaryName);
  auto file = storage_.Open(temporary, OpenMode::kCreate);
  if (!file) return tl::make_unexpected(file.error());
  JOURNAL_TRY((*file)->WriteAt(0, blocks));
  JOURNAL_TRY((*file)->Sync());
  JOURNAL_TRY(storage_.Rename(temporary, std::string(kFrontierName)));
  if (On(Rule::kSyncDirectoryAfterRename)) JOURNAL_TRY(storage_.SyncDirectory());
  frontier_ = std::move(*file);
  sequence_ = base_sequence + 2;
  return {};
}

Status Journal::Adopt(FrontierView view) {
  sequence_ = view.choice.newest.sequence;
  state_ = view.choice.newest.state;
  JOURNAL_TRY(RequireSequences());
  if (!On(Rule::kVerifyBeforeInstall) && view.choice.partner == Partner::kLost) {
    // The mistake this rule prevents: the frontier is repaired before the data was looked at.
    if (view.one_block) {
      JOURNAL_TRY(InstallFrontier(sequence_));
    } else {
      frontier_ = std::move(view.file);
      JOURNAL_TRY(RepairFrontier(view, false));
      view.file = std::move(frontier_);
    }
  }
  auto history = LoadHistory(storage_, OpenMode::kReadWrite, view, options_);
  if (!history) return tl::make_unexpected(history.error());
  JOURNAL_TRY(ScanDirectory());
  state_ = history->state;
  first_op_ = history->first_op;
  JOURNAL_TRY(SettleFiles(*history));
  data_ = std::move(history->data);
  entries_ = std::move(history->entries);
  for (const Entry& entry : entries_) retained_bytes_ += entry.length;
  if (view.one_block) {
    JOURNAL_TRY(InstallFrontier(sequence_));
  } else {
    frontier_ = std::move(view.file);
    JOURNAL_TRY(RepairFrontier(view, state_ != view.choice.newest.state));
  }
  Reclaim();
  return {};
}

// Makes what was found durable, and what does not count gone, before anything is published on it.
Status Journal::SettleFiles(const History& history) {
  if (history.data_bytes != state_.length) JOURNAL_TRY(history.data->Truncate(state_.length));
  JOURNAL_TRY(history.data->Sync());
  if (On(Rule::kSyncDirectoryAtOpen)) JOURNAL_TRY(storage_.SyncDirectory());
  return {};
}

// Leaves two good slots, both naming the live generation. The only copy of the newest state is
// never overwritten: if it lies in the wrong place, the other place is written first.
Status Journal::RepairFrontier(const FrontierView& view, bool state_changed) {
  const FrontierChoice& choice = view.choice;
  const bool newest_misplaced =
      On(Rule::kCheckSlotRedundancy) && SlotPosition(choice.newest.sequence) != choice.position;
  const bool partner_bad = choice.partner == Partner::kLost ? On(Rule::kRepublishDamagedSlot)
                                                            : choice.partner != Partner::kPrevious;
  const bool old_generation = On(Rule::kPublishTwiceAfterRewrite) &&
                              choice.partner != Partner::kLost &&
                              choice.partner_state.generation != state_.generation;
  if (choice.partner == Partner::kSkipped || choice.partner == Partner::kMisplaced) {
    LogWarning("journal: a frontier write was lost or went to the wrong place; repaired");
  }
  if (newest_misplaced) {
    JOURNAL_TRY(PublishAt(1 - choice.position, state_));
    return PublishAt(choice.position, state_);
  }
  if (state_changed || partner_bad || old_generation) return Publish(state_);
  return {};
}

// Finds the files no slot names, and the highest generation number in use.
Status Journal::ScanDirectory() {
  const auto entries = storage_.List();
  if (!entries) return tl::make_unexpected(entries.error());
  highest_generation_ = state_.generation;
  for (const DirectoryEntry& entry : *entries) {
    const auto generation = ParseDataFileName(entry.name);
    if (generation) highest_generation_ = std::max(highest_generation_, *generation);
    if (entry.type != EntryType::kFile) continue;
    const bool old_data = generation && *generation != state_.generation;
    if (old_data || entry.name == kFrontierTemporaryName) obsolete_.push_back(entry.name);
  }
  std::sort(obsolete_.begin(), obsolete_.end());
  return {};
}

void Journal::Reclaim() {
  std::vector<std::string> kept;
  for (const std::string& name : obsolete_) {
    const auto removed = storage_.Unlink(name);
    if (removed || IsMissing(removed.error())) {
      removals_unsynced_ = true;
    } else {
      LogWarning("journal: " + removed.error().Message());
      kept.push_back(name);
    }
  }
  obsolete_ = std::move(kept);
  if (!removals_unsynced_) return;
  const auto synced = storage_.SyncDirectory();
  if (synced) {
    removals_unsynced_ = false;
  } else {
    LogWarning("journal: " + synced.error().Message());
  }
}

}  // namespace tornfs::journal
