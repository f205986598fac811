// Bodies in segments that the caller writes, and the names that keep them alive.
#include <gtest/gtest.h>

#include "fixture.h"

namespace tornfs::journal {
namespace {

using Bytes = MemoryDisk::Bytes;
using Texts = std::vector<std::string>;

std::string Public(std::uint64_t start_offset) { return InPartition(PublicName(start_offset)); }

TEST(ReferencedSegments, referenced_bodies_survive_retention_and_checkpoint_without_wal_copies) {
  MemoryDisk disk;
  {
    OpenJournal journal(disk);
    ASSERT_TRUE(journal.AppendReference(1, 0, "message 1"));
    ASSERT_TRUE(journal.AppendReference(1, 0, "message 2"));
    ASSERT_TRUE(journal.AppendReference(2, 2, "message 3"));
    ASSERT_TRUE(journal->Sync());
    EXPECT_EQ(journal->state().length, 3 * kBlockBytes);
  }
  disk.Remove(Public(0));
  disk.Remove(Public(2));
  OpenJournal journal(disk);
  ASSERT_TRUE(journal.ok()) << journal.error().Message();
  EXPECT_EQ(Messages(*journal).size(), 3U);
  ASSERT_TRUE(journal->Checkpoint(2));
  EXPECT_TRUE(disk.Read(RetainedName({1, 0})));
  EXPECT_EQ(journal->state().length, 2 * kBlockBytes);
  ASSERT_TRUE(journal->Checkpoint(3));
  EXPECT_FALSE(disk.Read(RetainedName({1, 0})));
  EXPECT_TRUE(disk.Read(RetainedName({2, 2})));
}

TEST(ReferencedSegments, truncating_a_reference_keeps_the_shared_segment_for_its_retained_prefix) {
  MemoryDisk disk;
  OpenJournal journal(disk);
  ASSERT_TRUE(journal.AppendReference(1, 0, "message 1"));
  ASSERT_TRUE(journal.AppendReference(1, 0, "message 2"));
  ASSERT_TRUE(journal->TruncateFrom(2));
  EXPECT_TRUE(disk.Read(RetainedName({1, 0})));
  EXPECT_EQ(Messages(*journal), Texts{"message 1"});
  ASSERT_TRUE(journal->TruncateFrom(1));
  EXPECT_FALSE(disk.Read(RetainedName({1, 0})));
}

TEST(ReferencedSegments, references_coexist_with_legacy_records_and_survive_purge_name_reuse) {
  MemoryDisk disk;
  {
    OpenJournal journal(disk);
    ASSERT_TRUE(journal.AppendMessage("inline"));
    ASSERT_TRUE(journal.AppendReference(1, 1, "referenced"));
    ASSERT_TRUE(journal->MarkPurge(1, 2));
    disk.Remove(Public(1));
    ASSERT_TRUE(journal.AppendReference(2, 1, "reused name"));
    ASSERT_TRUE(journal->Sync());
  }
  OpenJournal journal(disk);
  ASSERT_TRUE(journal.ok()) << journal.error().Message();
  EXPECT_EQ(Messages(*journal), (Texts{"inline", "referenced", "reused name"}));
}

TEST(ReferencedSegments, recovery_sweeps_unpublished_references_and_keeps_the_durable_prefix) {
  MemoryDisk disk;
  {
    OpenJournal journal(disk);
    ASSERT_TRUE(journal.AppendReference(1, 0, "durable") && journal->Sync());
    ASSERT_TRUE(journal.AppendReference(2, 1, "buffered"));
    EXPECT_TRUE(disk.Read(RetainedName({2, 1})));
  }
  OpenJournal journal(disk);
  EXPECT_EQ(Messages(*journal), Texts{"durable"});
  EXPECT_FALSE(disk.Read(RetainedName({2, 1})));
  EXPECT_TRUE(disk.Read(Public(1)));  // The caller's.
}

TEST(ReferencedSegments,
     recovery_refuses_missing_torn_or_corrupt_referenced_bodies_without_rewriting_evidence) {
  MemoryDisk sound;
  {
    OpenJournal journal(sound);
    ASSERT_TRUE(journal.AppendReference(1, 0, "message 1") && journal->Sync());
  }
  const std::string name = RetainedName({1, 0});
  for (const int damage : {0, 1, 2}) {
    MemoryDisk disk = sound;
    Bytes bytes = disk.Read(name).value();
    if (damage == 0) bytes.pop_back();
    if (damage == 1) bytes.back() ^= std::byte{1};
    disk.Put(name, bytes);
    if (damage == 2) disk.Remove(name);
    auto before = disk.Contents();
    const OpenJournal journal(disk);
    ASSERT_FALSE(journal.ok());
    EXPECT_EQ(journal.error().kind, ErrorKind::kDamaged);
    EXPECT_EQ(disk.Contents(), before);
  }
}

TEST(ReferencedSegments, invalid_references_are_rejected_before_modifying_history) {
  MemoryDisk disk;
  OpenJournal journal(disk);
  ASSERT_TRUE(journal.AppendReference(1, 0, "message 1") && journal->Sync());
  const Prepare prepare = MakeMessages(2, journal->state().head_checksum, 1, "message 2");
  const std::uint64_t length = prepare.size() - prepare_at::kBody;
  const auto before = disk.Contents();
  for (const SegmentReference& bad :
       {SegmentReference{{1, 0}, 0, length - 1}, SegmentReference{{1, 0}, UINT64_MAX, length},
        SegmentReference{{1, 0}, 1, length}, SegmentReference{{7, 7}, 0, length}}) {
    const ReferencedPrepare item{prepare, bad};
    EXPECT_EQ(journal->AppendReferences(std::span(&item, 1)).error().kind, ErrorKind::kInvalid);
  }
  EXPECT_EQ(disk.Contents(), before);
  EXPECT_TRUE(journal.AppendReference(1, 0, "message 2") && journal->Sync());
}

TEST(ReferencedSegments, purge_releases_segment_inodes_after_preserving_repair_bodies_inline) {
  MemoryDisk disk;
  OpenJournal journal(disk);
  ASSERT_TRUE(journal.AppendReference(1, 0, "message 1") && journal->Sync());
  ASSERT_TRUE(journal->EnableSegments(1, 1000));
  ASSERT_TRUE(journal.AppendMessage("message 2"));
  ASSERT_TRUE(journal->MarkPurge(3, 2));
  EXPECT_FALSE(disk.Read(RetainedName({1, 0})));
  EXPECT_FALSE(disk.Read(RetainedName({2, 1})));
  EXPECT_EQ(Messages(*journal), (Texts{"message 1", "message 2"}));
}

}  // namespace
}  // namespace tornfs::journal
