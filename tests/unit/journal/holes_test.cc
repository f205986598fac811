// One test per known hole of two-slot frontiers, named after its id in docs/mutants.md: the
// repaired journal passes, and the same steps with the rule switched off do the damage.
#include <gtest/gtest.h>

#include "common/bytes.h"
#include "fixture.h"

namespace tornfs::journal {
namespace {

using Bytes = MemoryDisk::Bytes;

const std::string kFrontier(kFrontierName);

// Runs `step` on an open journal and stops the process right after effect number `effects` of it.
template <class Step>
void StopAfter(MemoryDisk& disk, int effects, const Options& options, Step step) {
  OpenJournal journal(disk, options);
  ASSERT_TRUE(journal.ok());
  disk.stop_after_effect = disk.effects() + effects - 1;
  EXPECT_FALSE(step(journal));
  EXPECT_TRUE(disk.stopped());
}

std::uint64_t HeadAfterOpen(MemoryDisk& disk, const Options& options = {}) {
  OpenJournal journal(disk, options);
  EXPECT_TRUE(journal.ok()) << journal.error().Message();
  return journal.ok() ? journal->durable_head() : 0;
}

// H.1: a slot that was written but not synced is found after a kill, reported, and lost.
std::uint64_t HeadAfterKillAndPowerLoss(const Options& options) {
  MemoryDisk disk = DiskWith(1);
  StopAfter(disk, 3, options, [](OpenJournal& journal) {
    return journal.AppendDurably("two");  // write, sync, slot write; the slot's sync never runs
  });
  disk.Kill();
  EXPECT_EQ(HeadAfterOpen(disk, options), 2U);
  // Everything not synced goes: the seed is one that keeps nothing.
  std::uint64_t least = 2;
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    MemoryDisk copy = disk;
    Rng rng(seed);
    copy.PowerLoss(rng, Tear::kNone);
    least = std::min(least, HeadAfterOpen(copy));
  }
  return least;
}

TEST(Hole, H1UnsyncedSlotIsSyncedBeforeItIsTrusted) {
  EXPECT_EQ(HeadAfterKillAndPowerLoss({}), 2U);
  EXPECT_EQ(HeadAfterKillAndPowerLoss(Without({Rule::kSyncFrontierAtOpen})), 1U);
}

// H.2: a power loss tears the slot of a checkpoint that carries a record never synced. The survivor
// leads back to the outgoing file, which must be whole. `effects`: up to and with that slot's
// write.
int RefusalsAfterTornCheckpoint(const Options& options, int effects) {
  MemoryDisk disk = DiskWith(2);
  StopAfter(disk, effects, options, [](OpenJournal& journal) -> Status {
    JOURNAL_TRY(journal.Append("buffered"));
    return journal->Checkpoint(1);
  });
  int refusals = 0;
  for (std::uint64_t seed = 0; seed < 64; ++seed) {
    MemoryDisk copy = disk;
    Rng rng(seed);
    copy.PowerLoss(rng, Tear::kByte);
    refusals += Refusal(copy).empty() ? 0 : 1;
  }
  return refusals;
}

TEST(Hole, H2OutgoingFileIsSyncedBeforeTheSwitch) {
  // Append; create, copy, sync, directory sync, sync of the outgoing file, slot.
  EXPECT_EQ(RefusalsAfterTornCheckpoint({}, 7), 0);
  EXPECT_GT(RefusalsAfterTornCheckpoint(Without({Rule::kSyncOutgoingBeforeRewrite}), 6), 0);
}

TEST(Hole, H3DamagedSlotIsRepublishedEvenWhenNothingElseChanged) {
  MemoryDisk disk = DiskWith(3);
  const std::size_t older = 1 - NewestPosition(disk);
  DamageSlot(disk, older);
  MemoryDisk mutant = disk;
  EXPECT_EQ(HeadAfterOpen(mutant, Without({Rule::kRepublishDamagedSlot})), 3U);
  EXPECT_FALSE(SlotAt(mutant, older));
  EXPECT_EQ(HeadAfterOpen(disk), 3U);
  EXPECT_TRUE(SlotAt(disk, older));
  // A half-block tail is then cut and not taken for damage.
  for (MemoryDisk* each : {&disk, &mutant}) {
    Bytes data = each->Read(DataFileName(0)).value();
    data.resize(data.size() + 2048);
    each->Put(DataFileName(0), data);
  }
  EXPECT_EQ(Refusal(disk), "");
  EXPECT_NE(Refusal(mutant), "");
}

TEST(Hole, H4LoweredCapacityStillReopensHistory) {
  MemoryDisk disk;
  {
    OpenJournal journal(disk);
    ASSERT_TRUE(journal.ok());
    ASSERT_TRUE(journal.AppendDurably("small"));
    const std::string large(kPrepareBytesMax - kPrepareBytesMin, 'x');
    ASSERT_TRUE(journal.Append(large));
    ASSERT_TRUE(journal.Append(large));
    ASSERT_TRUE(journal->Sync());
  }
  DamageSlot(disk, NewestPosition(disk));
  Options lowered;
  lowered.capacity = kCapacityMin;
  Options mutant = Without({Rule::kIgnoreCapacityAtRecovery});
  mutant.capacity = kCapacityMin;
  EXPECT_NE(Refusal(disk, mutant).find("exceeds capacity"), std::string::npos);
  OpenJournal journal(disk, lowered);
  ASSERT_TRUE(journal.ok());
  EXPECT_EQ(journal->durable_head(), 3U);
  EXPECT_EQ(journal.Append("more").error().kind, ErrorKind::kCapacity);
  ASSERT_TRUE(journal->Checkpoint(3));
  EXPECT_TRUE(journal.AppendDurably("room again"));
}

// H.5: names persist in any order; a frontier without its data file refuses an empty journal.
int RefusalsAfterFirstOpen(const Options& options) {
  int refusals = 0;
  for (int effects = 0; effects < 10; ++effects) {
    for (std::uint64_t seed = 0; seed < 32; ++seed) {
      MemoryDisk disk;
      disk.stop_after_effect = effects;
      { const OpenJournal journal(disk, options); }
      Rng rng(seed);
      disk.PowerLoss(rng, Tear::kNone);
      refusals += Refusal(disk).empty() ? 0 : 1;
    }
  }
  return refusals;
}

TEST(Hole, H5DataFileNameIsDurableBeforeTheFrontier) {
  EXPECT_EQ(RefusalsAfterFirstOpen({}), 0);
  EXPECT_GT(RefusalsAfterFirstOpen(Without({Rule::kSyncDirectoryBeforeFrontier})), 0);
}

TEST(Hole, H6ShortFrontierIsNotACompleteOne) {
  MemoryDisk disk = DiskWith(3);  // Publications 1..5: the newest is in slot 1.
  ASSERT_EQ(NewestPosition(disk), 1U);
  Bytes frontier = disk.Read(kFrontier).value();
  frontier.resize(kBlockBytes);
  disk.Put(kFrontier, frontier);
  EXPECT_NE(Refusal(disk).find("unknown frontier size"), std::string::npos);
  EXPECT_EQ(HeadAfterOpen(disk, Without({Rule::kRefuseShortFrontier})), 2U);
}

// H.7: after a compaction either slot alone leads to the new generation.
bool SurvivesDamageAfterCheckpoint(const Options& options) {
  MemoryDisk disk = DiskWith(3);
  {
    OpenJournal journal(disk, options);
    EXPECT_TRUE(journal->Checkpoint(2));
    EXPECT_FALSE(disk.Read(DataFileName(0)));
  }
  DamageSlot(disk, NewestPosition(disk));
  return Refusal(disk).empty();
}

TEST(Hole, H7BothSlotsNameTheNewGeneration) {
  EXPECT_TRUE(SurvivesDamageAfterCheckpoint({}));
  EXPECT_FALSE(SurvivesDamageAfterCheckpoint(Without({Rule::kPublishTwiceAfterRewrite})));
}

TEST(Hole, H7OpenCompletesAnInterruptedSecondPublication) {
  for (int effects = 1; effects < 40; ++effects) {
    MemoryDisk disk = DiskWith(3);
    {
      OpenJournal journal(disk);
      disk.stop_after_effect = disk.effects() + effects - 1;
      if (journal->Checkpoint(2)) break;
    }
    disk.Kill();
    EXPECT_EQ(HeadAfterOpen(disk), 3U);
    EXPECT_EQ(SlotAt(disk, 0)->state.generation, SlotAt(disk, 1)->state.generation);
    DamageSlot(disk, NewestPosition(disk));
    EXPECT_EQ(Refusal(disk), "") << effects;
  }
}

// H.9: a file that could not be deleted must not get its number used again.
bool SurvivesFailedUnlink(const Options& options) {
  MemoryDisk disk = DiskWith(3);
  disk.Put(DataFileName(1), Bytes(kBlockBytes));  // Left by a compaction that never published.
  disk.fail_unlinks = true;
  OpenJournal journal(disk, options);
  EXPECT_TRUE(journal.ok());
  disk.fail_unlinks = false;
  EXPECT_TRUE(journal->Checkpoint(2));
  return Refusal(disk).empty();
}

TEST(Hole, H9NextGenerationIsAboveEveryNumberOnDisk) {
  EXPECT_TRUE(SurvivesFailedUnlink({}));
  EXPECT_FALSE(SurvivesFailedUnlink(Without({Rule::kNextGenerationAboveDisk})));
}

TEST(Hole, H12SecondWriterIsRefused) {
  MemoryDisk disk = DiskWith(1);
  {
    const OpenJournal first(disk);
    const OpenJournal second(disk);
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.error().kind, ErrorKind::kLocked);
    EXPECT_TRUE(OpenJournal(disk, Without({Rule::kLockDirectory})).ok());
    EXPECT_EQ(Refusal(disk), "");  // Readers do not ask.
  }
  EXPECT_TRUE(OpenJournal(disk).ok());
}

// H.13: publication q+1 went to the place of q.
MemoryDisk DiskWithMisdirectedSlot() {
  MemoryDisk disk = DiskWith(2);
  const std::size_t newest = NewestPosition(disk);
  const Slot previous = *SlotAt(disk, 1 - newest);
  const Slot last = *SlotAt(disk, newest);
  Slot stale = previous;
  stale.sequence = previous.sequence - 1;
  stale.state = State();
  stale.state.group = 1;
  stale.state.incarnation = 1;
  PutSlot(disk, newest, stale);
  PutSlot(disk, 1 - newest, last);
  return disk;
}

TEST(Hole, H13MisplacedSlotIsKeptUntilItsStateIsSafe) {
  MemoryDisk disk = DiskWithMisdirectedSlot();
  const std::size_t misplaced = NewestPosition(disk);
  {
    // Stopped right after the first slot write, the only older copy is still there.
    MemoryDisk stopped;
    for (int effect = 0; stopped.counts.writes == 0; ++effect) {
      ASSERT_LT(effect, 40);
      stopped = disk;
      stopped.counts = {};
      stopped.stop_after_effect = stopped.effects() + effect;
      const OpenJournal journal(stopped);
    }
    EXPECT_EQ(SlotAt(stopped, misplaced)->sequence, SlotAt(disk, misplaced)->sequence);
    DamageSlot(stopped, 1 - misplaced);
    stopped.Kill();
    EXPECT_EQ(HeadAfterOpen(stopped), 2U);
  }
  EXPECT_EQ(HeadAfterOpen(disk), 2U);
  for (std::size_t position = 0; position < kSlotCount; ++position) {
    EXPECT_EQ(SlotAt(disk, position)->state.head, 2U);
    EXPECT_EQ(SlotPosition(SlotAt(disk, position)->sequence), position);
  }
}

TEST(Hole, H13UncheckedPlaceOverwritesTheOnlyCopy) {
  MemoryDisk disk = DiskWithMisdirectedSlot();
  const std::size_t misplaced = NewestPosition(disk);
  const std::uint64_t sequence = SlotAt(disk, misplaced)->sequence;
  OpenJournal journal(disk, Without({Rule::kCheckSlotRedundancy}));
  ASSERT_TRUE(journal.AppendDurably("next"));
  EXPECT_NE(SlotAt(disk, misplaced)->sequence, sequence);
  EXPECT_LT(SlotAt(disk, 1 - misplaced)->sequence, sequence);
}

TEST(Hole, H13LegitimateGapOfThreeIsRepaired) {
  MemoryDisk disk = DiskWith(3);
  const std::size_t older = 1 - NewestPosition(disk);
  Slot skipped = *SlotAt(disk, older);
  skipped.sequence -= 2;
  skipped.state.head = 1;
  skipped.state.length = kBlockBytes;
  PutSlot(disk, older, skipped);
  EXPECT_EQ(HeadAfterOpen(disk), 3U);
  EXPECT_EQ(SlotAt(disk, older)->state.head, 3U);
  EXPECT_EQ(SlotAt(disk, older)->sequence, SlotAt(disk, 1 - older)->sequence + 1);
}

TEST(Hole, H13SwappedSlotsAreRepaired) {
  MemoryDisk disk = DiskWith(3);
  const Slot first = *SlotAt(disk, 0);
  const Slot second = *SlotAt(disk, 1);
  PutSlot(disk, 0, second);
  PutSlot(disk, 1, first);
  EXPECT_EQ(HeadAfterOpen(disk), 3U);
  for (const std::size_t position : {0U, 1U}) {
    EXPECT_EQ(SlotPosition(SlotAt(disk, position)->sequence), position);
    EXPECT_EQ(SlotAt(disk, position)->state.head, 3U);
  }
}

TEST(Hole, H13ContradictingSlotsAreRefused) {
  const Slot newest = *SlotAt(DiskWith(3), 1);
  Slot foreign = newest;
  foreign.sequence -= 1;
  foreign.state.group = 9;
  Slot distant = newest;
  distant.sequence += 5;
  for (const Slot& other : {newest, foreign, distant}) {
    MemoryDisk disk = DiskWith(3);
    PutSlot(disk, 0, other);
    EXPECT_NE(Refusal(disk).find("frontier: slot"), std::string::npos);
    EXPECT_FALSE(OpenJournal(disk).ok());
    EXPECT_EQ(Refusal(disk, Without({Rule::kCheckSlotRedundancy})), "");
  }
}

TEST(Hole, H14OneUnreadableSectorHidesOneSlot) {
  for (const std::uint64_t position : {0U, 1U}) {
    MemoryDisk disk = DiskWith(3);
    disk.unreadable.insert({kFrontier, position});
    EXPECT_EQ(Refusal(disk), "");
    EXPECT_NE(Refusal(disk, Without({Rule::kReadSlotsSeparately})), "");
    EXPECT_EQ(HeadAfterOpen(disk), 3U);
  }
}

TEST(Hole, H14CannotReadIsNotDamaged) {
  MemoryDisk disk = DiskWith(3);
  disk.unreadable = {{kFrontier, 0}, {kFrontier, 1}};
  EXPECT_EQ(OpenJournal(disk).error().kind, ErrorKind::kIo);
  MemoryDisk data = DiskWith(3);
  data.unreadable = {{DataFileName(0), 1}};
  EXPECT_EQ(OpenJournal(data).error().kind, ErrorKind::kIo);
}

// H.15: a lost slot over damaged records; a refusal must keep the evidence.
bool RefusalChangesNothing(const Options& options) {
  MemoryDisk disk = DiskWith(3);
  DamageSlot(disk, NewestPosition(disk));
  Bytes data = disk.Read(DataFileName(0)).value();
  data[2 * kBlockBytes + 40] ^= std::byte{1};
  disk.Put(DataFileName(0), data);
  const auto before = disk.Contents();
  EXPECT_FALSE(OpenJournal(disk, options).ok());
  return disk.Contents() == before;
}

TEST(Hole, H15EverythingIsVerifiedBeforeTheFirstWrite) {
  EXPECT_TRUE(RefusalChangesNothing({}));
  EXPECT_FALSE(RefusalChangesNothing(Without({Rule::kVerifyBeforeInstall})));
}

TEST(Hole, VerifyTailChainKeepsStrangersOut) {
  MemoryDisk disk = DiskWith(2);
  DamageSlot(disk, NewestPosition(disk));
  Bytes data = disk.Read(DataFileName(0)).value();
  const Prepare stranger = MakePrepare(2, 12345, "not the parent");
  Bytes record(kBlockBytes);
  EncodeRecord(0, stranger, record);
  std::copy(record.begin(), record.end(), data.begin() + kBlockBytes);
  disk.Put(DataFileName(0), data);
  EXPECT_NE(Refusal(disk).find("breaks the chain"), std::string::npos);
  EXPECT_EQ(Refusal(disk, Without({Rule::kVerifyTailChain})), "");
}

TEST(Strictness, UsedUpNumbersAreRefusedAndNeverWrap) {
  MemoryDisk disk = DiskWith(1);
  for (const std::size_t position : {0U, 1U}) {
    Slot slot = *SlotAt(disk, NewestPosition(disk));
    slot.sequence = UINT64_MAX - 1 + position;
    PutSlot(disk, position, slot);
  }
  EXPECT_EQ(OpenJournal(disk).error().kind, ErrorKind::kCapacity);
  MemoryDisk numbered = DiskWith(1);
  numbered.Put(DataFileName(UINT64_MAX), {});
  numbered.fail_unlinks = true;
  OpenJournal journal(numbered);
  EXPECT_EQ(journal->Checkpoint(1).error().kind, ErrorKind::kCapacity);
  EXPECT_TRUE(journal.AppendDurably("still usable"));
}

TEST(Strictness, ForeignNamesAreLeftAlone) {
  MemoryDisk disk = DiskWith(2);
  disk.Put("prepares-007.wal", Bytes(1));
  disk.Put("5.log", Bytes(1));
  disk.Put("prepares-7.wal", Bytes(1));
  disk.Put("frontier.tmp", Bytes(1));
  EXPECT_EQ(HeadAfterOpen(disk), 2U);
  EXPECT_TRUE(disk.Read("prepares-007.wal"));
  EXPECT_TRUE(disk.Read("5.log"));
  EXPECT_FALSE(disk.Read("prepares-7.wal"));
  EXPECT_FALSE(disk.Read("frontier.tmp"));
}

}  // namespace
}  // namespace tornfs::journal
