// Opening: acting on what recovery.h decided. Every function here writes; none of them decides what
// counts.
#include <algorithm>
#include <map>

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
  if (On(Rule::kSyncDirectoryBeforeFrontier)) JOURNAL_TRY(Barrier(storage_.SyncDirectory()));
  return InstallFrontier(0);
}

Status Journal::Adopt(FrontierView view) {
  sequence_ = view.choice.newest.sequence;
  state_ = view.choice.newest.state;
  JOURNAL_TRY(RequireSequences());
  // A killed process may have left a slot that no disk has seen yet, and everything that follows
  // believes it.
  if (On(Rule::kSyncFrontierAtOpen)) JOURNAL_TRY(Barrier(view.file->Sync()));
  const bool two_slots = options_.protocol != Protocol::kRename;
  if (!On(Rule::kVerifyBeforeInstall) && two_slots && view.choice.partner == Partner::kLost) {
    // The mistake this rule prevents: the frontier is repaired before the data was looked at.
    if (view.one_block) {
      JOURNAL_TRY(InstallFrontier(sequence_));
    } else if (On(Rule::kRepublishDamagedSlot)) {
      frontier_ = std::move(view.file);
      JOURNAL_TRY(Publish(state_));
      view.file = std::move(frontier_);
    }
  }
  auto history = LoadHistory(storage_, OpenMode::kReadWrite, view, options_);
  if (!history) return tl::make_unexpected(history.error());
  const auto found = ScanDirectory();
  if (!found) return tl::make_unexpected(found.error());
  state_ = history->state;
  first_op_ = history->first_op;
  entries_ = std::move(history->entries);
  for (const Entry& entry : entries_) retained_bytes_ += RetainedBytes(entry);
  QueueUnnamedSegments(*found);
  if (suspect_) JOURNAL_TRY(RewriteSuspect(*history->data, *view.file));
  JOURNAL_TRY(SettleFiles(*history));
  data_ = std::move(history->data);
  if (!frontier_) frontier_ = std::move(view.file);
  JOURNAL_TRY(RepairFrontier(view, state_ != view.choice.newest.state));
  if (state_.segments) JOURNAL_TRY(Barrier(segments_.Settle(*state_.segments)));
  if (suspect_) reclaimer_.Add(std::string(kSuspectName));
  Reclaim();
  return {};
}

// Makes what was found durable, and what does not count gone, before anything is published on it.
Status Journal::SettleFiles(const History& history) {
  if (history.data_bytes != state_.length) JOURNAL_TRY(history.data->Truncate(state_.length));
  JOURNAL_TRY(Barrier(history.data->Sync()));
  // Bodies that a killed process wrote may have been verified from the page cache alone.
  if (On(Rule::kSyncAdoptedBodies)) {
    JOURNAL_TRY(Barrier(segments_.SyncAdopted(history.adopted_segments)));
  }
  if (On(Rule::kSyncDirectoryAtOpen)) JOURNAL_TRY(Barrier(storage_.SyncDirectory()));
  return {};
}

// A barrier failed in this boot: whatever counts is written once more, over itself, so that the
// system has to bring it to the disk or say that it cannot.
Status Journal::RewriteSuspect(File& data, File& frontier) {
  LogWarning("journal: a barrier failed earlier; everything is written again");
  std::map<SegmentKey, std::uint64_t> segments;
  for (const Entry& entry : entries_) {
    if (!entry.reference) continue;
    std::uint64_t& end = segments[entry.reference->segment];
    end = std::max(end, entry.reference->end());
  }
  for (const auto& [key, bytes] : segments) {
    JOURNAL_TRY(Barrier(segments_.RewriteSegment(key, bytes)));
  }
  JOURNAL_TRY(Barrier(RewriteInPlace(data, state_.length)));
  const auto frontier_bytes = frontier.Length();
  if (!frontier_bytes) return tl::make_unexpected(frontier_bytes.error());
  JOURNAL_TRY(Barrier(RewriteInPlace(frontier, *frontier_bytes)));
  JOURNAL_TRY(Barrier(storage_.SyncDirectory()));
  return segments.empty() ? Status() : Barrier(storage_.SyncPartition());
}

// Leaves two good slots, both naming the live generation. The only copy of the newest state is
// never overwritten: if it lies in the wrong place, the other place is written first.
Status Journal::RepairFrontier(const FrontierView& view, bool state_changed) {
  if (options_.protocol == Protocol::kRename) return state_changed ? Publish(state_) : Status();
  if (view.one_block) {
    return On(Rule::kVerifyBeforeInstall) ? InstallFrontier(sequence_) : Status();
  }
  const FrontierChoice& choice = view.choice;
  const bool newest_misplaced =
      On(Rule::kCheckSlotRedundancy) && SlotPosition(choice.newest.sequence) != choice.position;
  const bool lost = choice.partner == Partner::kLost;
  const bool partner_bad = lost ? On(Rule::kRepublishDamagedSlot) && On(Rule::kVerifyBeforeInstall)
                                : choice.partner != Partner::kPrevious;
  const bool old_generation = On(Rule::kPublishTwiceAfterRewrite) && !lost &&
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

// Finds the files no slot names, and the highest generation in use. Returns the retained segments.
Result<std::set<SegmentKey>> Journal::ScanDirectory() {
  const auto entries = storage_.List();
  if (!entries) return tl::make_unexpected(entries.error());
  highest_generation_ = state_.generation;
  std::vector<std::string> obsolete;
  std::set<SegmentKey> retained;
  for (const DirectoryEntry& entry : *entries) {
    const auto generation = ParseDataFileName(entry.name);
    if (generation) highest_generation_ = std::max(highest_generation_, *generation);
    if (entry.type != EntryType::kFile) continue;
    suspect_ |= entry.name == kSuspectName && On(Rule::kRewriteAfterFailedBarrier);
    const bool old_data = generation && *generation != state_.generation;
    if (old_data || entry.name == kFrontierTemporaryName) obsolete.push_back(entry.name);
    const auto segment = ParseRetainedName(entry.name);
    if (segment) retained.insert(*segment);
  }
  std::sort(obsolete.begin(), obsolete.end());
  for (std::string& name : obsolete) reclaimer_.Add(std::move(name));
  return retained;
}

// Links that neither a record nor a cursor needs go; no generation seen is used again.
void Journal::QueueUnnamedSegments(const std::set<SegmentKey>& found) {
  const std::set<SegmentKey> named = NamedSegments(state_, entries_);
  if (state_.segments) highest_segment_ = state_.segments->next_generation;
  for (const std::set<SegmentKey>& keys : {found, named}) {
    for (const SegmentKey& key : keys) {
      if (key.generation == UINT64_MAX) continue;
      highest_segment_ = std::max(highest_segment_, key.generation + 1);
    }
  }
  for (const SegmentKey& key : found) {
    if (!named.contains(key)) reclaimer_.Add(RetainedName(key));
  }
}

}  // namespace tornfs::journal
