// The journal as its callers see it, on a disk that does not fail unless told to.
#include "journal/journal.h"

#include <gtest/gtest.h>

#include "common/bytes.h"
#include "fixture.h"

namespace tornfs::journal {
namespace {

Status AppendOne(OpenJournal& journal, const Prepare& prepare) {
  const std::span<const std::byte> item(prepare);
  return journal->AppendBatch(std::span(&item, 1));
}

Status AppendMany(OpenJournal& journal, const std::vector<Prepare>& prepares) {
  const std::vector<std::span<const std::byte>> items(prepares.begin(), prepares.end());
  return journal->AppendBatch(items);
}

std::vector<Prepare> Chain(std::uint64_t first, std::uint64_t parent, int count,
                           std::string_view body = "x") {
  std::vector<Prepare> prepares;
  for (int i = 0; i < count; ++i) {
    prepares.push_back(MakePrepare(first + static_cast<std::uint64_t>(i), parent, body));
    parent = ChecksumOf(prepares.back());
  }
  return prepares;
}

TEST(Journal, DurableFrontierRecoversOnlyCoveredPrepares) {
  MemoryDisk disk = DiskWith(1);
  {
    OpenJournal journal(disk);
    ASSERT_TRUE(journal.Append("buffered"));
    EXPECT_EQ(journal->head(), 2U);
    EXPECT_EQ(journal->durable_head(), 1U);
  }
  OpenJournal journal(disk);
  EXPECT_EQ(journal->head(), 1U);
  EXPECT_EQ(disk.Read(DataFileName(0))->size(), kBlockBytes);
}

TEST(Journal, DurableAppendCoversBufferedPredecessors) {
  MemoryDisk disk = DiskWith(0);
  {
    OpenJournal journal(disk);
    ASSERT_TRUE(journal.Append("one"));
    ASSERT_TRUE(journal.AppendDurably("two"));
  }
  EXPECT_EQ(OpenJournal(disk)->head(), 2U);
}

// Two writes and two barriers, nothing created or renamed, whatever the size of the group.
TEST(Journal, AGroupCostsTwoWritesAndTwoBarriers) {
  for (const int group : {1, 7, 65, 256}) {
    MemoryDisk disk = DiskWith(1);
    OpenJournal journal(disk);
    disk.counts = {};
    const int calls = disk.calls();
    const auto prepares = Chain(2, journal->state().head_checksum, group, std::string(12288, 'p'));
    ASSERT_TRUE(AppendMany(journal, prepares));
    ASSERT_TRUE(journal->Sync());
    EXPECT_EQ(disk.counts, (MemoryDisk::Counts{.writes = 2, .file_syncs = 2}));
    EXPECT_EQ(disk.calls() - calls, 4);
    ASSERT_TRUE(journal->Sync());
    EXPECT_EQ(disk.calls() - calls, 4);
  }
}

TEST(Journal, OpeningAnIdleJournalWritesNothing) {
  MemoryDisk disk = DiskWith(2);
  const auto before = disk.Contents();
  disk.counts = {};
  const OpenJournal journal(disk);
  EXPECT_EQ(disk.counts, (MemoryDisk::Counts{.file_syncs = 2, .directory_syncs = 1}));
  EXPECT_EQ(disk.Contents(), before);
}

TEST(Journal, DuplicatesAreSkippedWithoutAWrite) {
  MemoryDisk disk = DiskWith(0);
  OpenJournal journal(disk);
  const auto prepares = Chain(1, 0, 2);
  ASSERT_TRUE(AppendMany(journal, {prepares[0], prepares[0], prepares[1]}));
  EXPECT_EQ(journal->head(), 2U);
  const int writes = disk.counts.writes;
  EXPECT_TRUE(AppendMany(journal, prepares));
  EXPECT_EQ(disk.counts.writes, writes);
  EXPECT_EQ(journal->head(), 2U);
}

TEST(Journal, InconsistentPreparesAreRefusedBeforeAnyWrite) {
  MemoryDisk disk = DiskWith(1);
  OpenJournal journal(disk);
  const auto before = disk.Contents();
  const std::uint64_t parent = journal->state().head_checksum;
  Prepare flipped = MakePrepare(2, parent, "body");
  flipped.back() ^= std::byte{1};
  Prepare longer = MakePrepare(2, parent, "body");
  longer.push_back(std::byte{0});
  Prepare foreign = MakePrepare(2, parent, "body");
  StoreLe<std::uint64_t>(std::span(foreign), prepare_at::kGroup, 9);
  const std::vector<Prepare> bad{flipped,
                                 longer,
                                 foreign,
                                 Prepare(100),
                                 MakePrepare(3, parent, "gap"),
                                 MakePrepare(1, 0, "another first"),
                                 MakePrepare(2, parent + 1, "wrong parent")};
  for (const Prepare& prepare : bad) {
    EXPECT_EQ(AppendOne(journal, prepare).error().kind, ErrorKind::kInvalid);
    // Nor does it slip in behind a good one.
    EXPECT_FALSE(AppendMany(journal, {MakePrepare(2, parent, "good"), prepare, prepare}));
  }
  EXPECT_EQ(disk.Contents(), before);
  EXPECT_TRUE(journal.AppendDurably("the journal is still usable"));
}

TEST(Journal, FailedMutationsPoison) {
  for (int call = 0; call < 4; ++call) {
    MemoryDisk disk = DiskWith(1);
    {
      OpenJournal journal(disk);
      disk.fail_call = disk.calls() + call;
      EXPECT_FALSE(journal.AppendDurably("fails somewhere"));
      EXPECT_TRUE(journal->poisoned());
      EXPECT_EQ(journal->durable_head(), 1U);
      EXPECT_EQ(journal.Append("x").error().kind, ErrorKind::kPoisoned);
      EXPECT_EQ(journal->Sync().error().kind, ErrorKind::kPoisoned);
      EXPECT_EQ(journal->Checkpoint(1).error().kind, ErrorKind::kPoisoned);
      EXPECT_EQ(journal->TruncateFrom(9).error().kind, ErrorKind::kPoisoned);
      EXPECT_EQ(journal->CertifyLogView(1, 0, 0).error().kind, ErrorKind::kPoisoned);
    }
    OpenJournal reopened(disk);
    ASSERT_TRUE(reopened.ok());
    EXPECT_GE(reopened->durable_head(), 1U);
    EXPECT_TRUE(reopened.AppendDurably("and on"));
  }
}

TEST(Journal, EveryFailedCallOfARewriteLeavesAJournalThatReopens) {
  bool reached = true;
  for (int call = 0; reached; ++call) {
    MemoryDisk disk = DiskWith(4);
    {
      OpenJournal journal(disk);
      const int begin = disk.calls();
      disk.fail_call = begin + call;
      const bool done = journal->Checkpoint(3).has_value();
      EXPECT_EQ(journal->poisoned(), !done);
      reached = disk.calls() > begin + call;
      disk.fail_call.reset();
    }
    OpenJournal reopened(disk);
    ASSERT_TRUE(reopened.ok()) << reopened.error().Message();
    EXPECT_EQ(reopened->durable_head(), 4U);
    ASSERT_LT(call, 100);
  }
}

TEST(Journal, CapacityGatesAdmissionOnly) {
  MemoryDisk disk = DiskWith(0);
  Options options;
  options.capacity = kCapacityMin;
  OpenJournal journal(disk, options);
  const std::string large(kPrepareBytesMax - kPrepareBytesMin, 'x');
  ASSERT_TRUE(journal.Append(large));
  ASSERT_TRUE(journal.Append(large));
  EXPECT_EQ(journal.Append("").error().kind, ErrorKind::kCapacity);
  EXPECT_FALSE(journal->poisoned());
  ASSERT_TRUE(journal->Checkpoint(2));
  EXPECT_TRUE(journal.AppendDurably(""));
}

TEST(Journal, CapacityHasBounds) {
  for (const std::uint64_t capacity : {std::uint64_t{0}, kCapacityMin - kBlockBytes,
                                       kCapacityMin + 1, kCapacityMax + kBlockBytes}) {
    MemoryDisk disk;
    Options options;
    options.capacity = capacity;
    EXPECT_EQ(OpenJournal(disk, options).error().kind, ErrorKind::kUnsupported);
    EXPECT_TRUE(disk.Contents().empty());
  }
}

TEST(Journal, CheckpointKeepsItsOpAndEverythingAfter) {
  MemoryDisk disk = DiskWith(5);
  {
    OpenJournal journal(disk);
    ASSERT_TRUE(journal.Append("buffered"));
    ASSERT_TRUE(journal->Checkpoint(3));
    EXPECT_EQ(journal->durable_head(), 6U);
    EXPECT_EQ(journal->first_op(), 3U);
    EXPECT_TRUE(journal->state().checkpoint_prepare);
    ASSERT_TRUE(journal->Checkpoint(3));
    EXPECT_EQ(journal->state().generation, 1U);
    EXPECT_EQ(journal->Checkpoint(7).error().kind, ErrorKind::kInvalid);
    ASSERT_TRUE(journal.AppendDurably("after"));
  }
  OpenJournal journal(disk);
  ASSERT_TRUE(journal.ok()) << journal.error().Message();
  EXPECT_EQ(journal->head(), 7U);
  EXPECT_EQ(journal->state().checkpoint, 3U);
  EXPECT_EQ(journal->entries().size(), 5U);
  EXPECT_FALSE(disk.Read(DataFileName(0)));
}

TEST(Journal, TruncateDropsTheEndAndTheCertificate) {
  MemoryDisk disk = DiskWith(5);
  {
    OpenJournal journal(disk);
    ASSERT_TRUE(journal->Checkpoint(2));
    ASSERT_TRUE(journal->CertifyLogView(4, 5, journal->state().head_checksum));
    EXPECT_EQ(journal->TruncateFrom(2).error().kind, ErrorKind::kInvalid);
    ASSERT_TRUE(journal->TruncateFrom(6));
    EXPECT_EQ(journal->state().certified_log_view, 4U);
    EXPECT_EQ(journal->state().generation, 1U);
    ASSERT_TRUE(journal->TruncateFrom(4));
    EXPECT_EQ(journal->head(), 3U);
    EXPECT_EQ(journal->state().certified_log_view, std::nullopt);
    ASSERT_TRUE(journal.AppendDurably("another fourth"));
  }
  OpenJournal journal(disk);
  EXPECT_EQ(journal->head(), 4U);
  ASSERT_TRUE(journal->TruncateFrom(3));
  EXPECT_EQ(journal->head(), 2U);
  EXPECT_TRUE(journal.AppendDurably("another third"));
}

TEST(Journal, TruncateToNothing) {
  MemoryDisk disk = DiskWith(2);
  {
    OpenJournal journal(disk);
    ASSERT_TRUE(journal->TruncateFrom(1));
    EXPECT_EQ(journal->head(), 0U);
  }
  OpenJournal journal(disk);
  ASSERT_TRUE(journal.ok());
  EXPECT_TRUE(journal.AppendDurably("first again"));
}

TEST(Journal, CertificateNeedsCompleteMatchingHistory) {
  MemoryDisk disk = DiskWith(2);
  {
    OpenJournal journal(disk);
    const std::uint64_t head_checksum = journal->state().head_checksum;
    EXPECT_EQ(journal->CertifyLogView(3, 3, head_checksum).error().kind, ErrorKind::kInvalid);
    EXPECT_EQ(journal->CertifyLogView(3, 2, head_checksum + 1).error().kind, ErrorKind::kInvalid);
    ASSERT_TRUE(journal->CertifyLogView(3, 2, head_checksum));
    ASSERT_TRUE(journal->CertifyLogView(3, 0, 0));
  }
  OpenJournal journal(disk);
  EXPECT_EQ(journal->state().certified_log_view, 3U);
  const State& state = journal->state();
  ASSERT_TRUE(AppendOne(journal, MakePrepare(3, state.head_checksum, "same view", 3)));
  EXPECT_EQ(state.certified_log_view, 3U);
  ASSERT_TRUE(AppendOne(journal, MakePrepare(4, state.head_checksum, "newer view", 4)));
  EXPECT_EQ(state.certified_log_view, std::nullopt);
}

TEST(Journal, UnlinkIsTriedAgain) {
  MemoryDisk disk = DiskWith(2);
  OpenJournal journal(disk);
  disk.fail_unlinks = true;
  ASSERT_TRUE(journal->Checkpoint(1));
  EXPECT_TRUE(disk.Read(DataFileName(0)));
  disk.fail_unlinks = false;
  journal->Reclaim();
  EXPECT_FALSE(disk.Read(DataFileName(0)));
}

TEST(Journal, FirstRecordMayHaveAnyParentOnce) {
  MemoryDisk disk = DiskWith(0);
  OpenJournal journal(disk);
  ASSERT_TRUE(AppendOne(journal, MakePrepare(1, 777, "adopted")));
  EXPECT_TRUE(journal->state().anchor_known);
  EXPECT_EQ(journal->state().checkpoint_checksum, 777U);
  ASSERT_TRUE(journal->Sync());
}

}  // namespace
}  // namespace tornfs::journal
