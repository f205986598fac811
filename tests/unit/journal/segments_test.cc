// Bodies in segments that the journal writes: rotation, rollback, purge and migration.
#include <gtest/gtest.h>

#include "common/bytes.h"
#include "common/hash.h"
#include "fixture.h"
#include "journal/batch.h"

namespace tornfs::journal {
namespace {

using Bytes = MemoryDisk::Bytes;
using Texts = std::vector<std::string>;

std::string Public(std::uint64_t start_offset) { return InPartition(PublicName(start_offset)); }

std::size_t SizeOf(const MemoryDisk& disk, const std::string& name) {
  return disk.Read(name).value_or(Bytes{}).size();
}

// A body of a message of 9 characters.
constexpr std::size_t kBody = kBatchHeaderBytes + 9;

TEST(OwnedSegments, BodiesGoToSegmentsAndRecordsToOneBlock) {
  MemoryDisk disk = DiskWithSegments(5);
  // 1000 bytes are reached behind the fourth body.
  EXPECT_EQ(SizeOf(disk, Public(0)), 4 * kBody);
  EXPECT_EQ(SizeOf(disk, Public(4)), kBody);
  EXPECT_TRUE(disk.Read(RetainedName({0, 0})));
  EXPECT_TRUE(disk.Read(RetainedName({1, 4})));
  OpenJournal journal(disk);
  ASSERT_TRUE(journal.ok()) << journal.error().Message();
  EXPECT_EQ(journal->state().length, 5 * kBlockBytes);
  EXPECT_EQ(Messages(*journal),
            (Texts{"message 1", "message 2", "message 3", "message 4", "message 5"}));
  EXPECT_EQ(journal->next_offset(), 5U);
}

TEST(OwnedSegments, non_message_prepares_do_not_rewrite_the_owned_wal_on_reopen) {
  MemoryDisk disk = DiskWithSegments(2);
  {
    OpenJournal journal(disk);
    ASSERT_TRUE(journal.AppendDurably("metadata"));
  }
  const auto before = disk.Contents();
  for (int i = 0; i < 2; ++i) {
    OpenJournal journal(disk);
    EXPECT_EQ(journal->head(), 3U);
    EXPECT_EQ(journal->state().generation, 1U);
  }
  EXPECT_EQ(disk.Contents(), before);
}

TEST(OwnedSegments, metadata_only_append_skips_segment_barriers_after_durable_bodies) {
  MemoryDisk disk = DiskWithSegments(2);
  OpenJournal journal(disk);
  disk.counts = {};
  ASSERT_TRUE(journal.AppendDurably("metadata"));
  EXPECT_EQ(disk.counts, (MemoryDisk::Counts{.writes = 2, .file_syncs = 2}));
}

TEST(OwnedSegments, AGroupCostsThreeWritesAndThreeBarriers) {
  for (const int group : {1, 65, 256}) {
    MemoryDisk disk = DiskWithSegments(1, 64 << 20);
    OpenJournal journal(disk);
    ASSERT_TRUE(journal.AppendMessage("warm up: the segment is open") && journal->Sync());
    std::vector<Prepare> prepares;
    std::uint64_t parent = journal->state().head_checksum;
    for (int i = 0; i < group; ++i) {
      const auto n = static_cast<std::uint64_t>(i);
      prepares.push_back(MakeMessages(3 + n, parent, 2 + n, std::string(12288, 'm')));
      parent = ChecksumOf(prepares.back());
    }
    const std::vector<PrepareView> views(prepares.begin(), prepares.end());
    disk.counts = {};
    ASSERT_TRUE(journal->AppendBatch(views));
    ASSERT_TRUE(journal->Sync());
    EXPECT_EQ(disk.counts, (MemoryDisk::Counts{.writes = 3, .file_syncs = 3}));
  }
}

// Per new segment one create, one link, one write and one barrier; per group two folders.
TEST(OwnedSegments, ARotationCostsItsSegmentAndTwoFolders) {
  MemoryDisk disk = DiskWithSegments(1, 100);
  OpenJournal journal(disk);
  ASSERT_TRUE(journal.AppendMessage("one") && journal->Sync());
  disk.counts = {};
  ASSERT_TRUE(journal.AppendMessage("two") && journal->Sync());
  EXPECT_EQ(disk.counts,
            (MemoryDisk::Counts{
                .writes = 3, .file_syncs = 3, .creates = 1, .links = 1, .directory_syncs = 2}));
}

TEST(OwnedSegments, adjacent_segment_bodies_share_writes_bounded_by_rotation_and_iov_max) {
  const auto writes = [](int count, std::uint64_t segment_bytes) {
    MemoryDisk disk = DiskWithSegments(0, segment_bytes);
    OpenJournal journal(disk);
    std::vector<Prepare> prepares;
    std::uint64_t parent = 0;
    for (int i = 0; i < count; ++i) {
      const auto n = static_cast<std::uint64_t>(i);
      prepares.push_back(MakeMessages(1 + n, parent, n, "message 1"));
      parent = ChecksumOf(prepares.back());
    }
    const std::vector<PrepareView> views(prepares.begin(), prepares.end());
    disk.counts = {};
    EXPECT_TRUE(journal->AppendBatch(views));
    return disk.counts.writes - 1;  // The records are one.
  };
  EXPECT_EQ(writes(5, 2 * kBody), 3);
  EXPECT_EQ(writes(1025, 64 << 20), 2);
}

TEST(OwnedSegments, CallersMayNotAssignReferences) {
  MemoryDisk disk = DiskWithSegments(1);
  OpenJournal journal(disk);
  EXPECT_EQ(journal.AppendReference(0, 0, "mine").error().kind, ErrorKind::kInvalid);
  EXPECT_FALSE(journal->poisoned());
}

TEST(OwnedSegments, OffsetsMustFollowTheTail) {
  MemoryDisk disk = DiskWithSegments(1);
  OpenJournal journal(disk);
  const Prepare gap = MakeMessages(2, journal->state().head_checksum, 5, "gap");
  const PrepareView view(gap);
  EXPECT_EQ(journal->AppendBatch(std::span(&view, 1)).error().kind, ErrorKind::kInvalid);
  EXPECT_TRUE(journal.AppendMessage("fits"));
}

TEST(OwnedSegments, owned_segments_rollback_physical_tails_without_advancing_the_checkpoint) {
  MemoryDisk disk = DiskWithSegments(6);
  {
    OpenJournal journal(disk);
    ASSERT_TRUE(journal->Checkpoint(1));
    ASSERT_TRUE(journal->TruncateFrom(3));
    EXPECT_EQ(journal->state().segments->checkpoint.next_offset, 1U);
    EXPECT_EQ(SizeOf(disk, Public(0)), 2 * kBody);
    EXPECT_FALSE(disk.Read(Public(4)));
    EXPECT_FALSE(disk.Read(RetainedName({1, 4})));
    ASSERT_TRUE(journal.AppendMessage("another 3") && journal->Sync());
  }
  OpenJournal journal(disk);
  ASSERT_TRUE(journal.ok()) << journal.error().Message();
  EXPECT_EQ(Messages(*journal), (Texts{"message 1", "message 2", "another 3"}));
}

TEST(OwnedSegments, a_segment_candidate_below_the_checkpoint_cannot_rewind_its_boundary) {
  MemoryDisk disk = DiskWithSegments(4);
  OpenJournal journal(disk);
  ASSERT_TRUE(journal.AppendDurably("metadata"));
  ASSERT_TRUE(journal->Checkpoint(4));
  EXPECT_EQ(journal->state().segments->checkpoint.next_offset, 4U);
  ASSERT_TRUE(journal->Checkpoint(5));
  EXPECT_EQ(journal->state().segments->checkpoint.next_offset, 4U);
  ASSERT_TRUE(journal.AppendMessage("message 5") && journal->TruncateFrom(6));
  EXPECT_EQ(journal->next_offset(), 4U);
}

TEST(OwnedSegments, owned_segments_recover_unpublished_bytes_and_keep_purged_prepare_bodies) {
  MemoryDisk disk = DiskWithSegments(3);
  {
    OpenJournal journal(disk);
    ASSERT_TRUE(journal.AppendMessage("buffered") && journal.AppendMessage("buffered too"));
  }
  EXPECT_TRUE(disk.Read(Public(4)));
  {
    OpenJournal journal(disk);
    EXPECT_EQ(SizeOf(disk, Public(0)), 3 * kBody);
    EXPECT_FALSE(disk.Read(Public(4)));
    EXPECT_FALSE(disk.Read(RetainedName({1, 4})));
    ASSERT_TRUE(journal->MarkPurge(1, 3));
    EXPECT_EQ(journal->next_offset(), 0U);
    EXPECT_FALSE(disk.Read(RetainedName({0, 0})));
    EXPECT_EQ(Messages(*journal), (Texts{"message 1", "message 2", "message 3"}));
    ASSERT_TRUE(journal.AppendMessage("fresh") && journal->Sync());
  }
  OpenJournal journal(disk);
  ASSERT_TRUE(journal.ok()) << journal.error().Message();
  EXPECT_EQ(Messages(*journal), (Texts{"message 1", "message 2", "message 3", "fresh"}));
  EXPECT_EQ(journal->state().purge_floor, 3U);
}

TEST(OwnedSegments, owned_purge_refuses_a_partial_floor_and_preserves_recoverable_history) {
  MemoryDisk disk = DiskWithSegments(3);
  OpenJournal journal(disk);
  EXPECT_EQ(journal->MarkPurge(1, 2).error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(journal->MarkPurge(1, 4).error().kind, ErrorKind::kInvalid);
  EXPECT_FALSE(journal->poisoned());
  EXPECT_EQ(Messages(*journal).size(), 3U);
}

TEST(OwnedSegments, owned_segments_migrate_only_unmaterialized_legacy_prepares) {
  MemoryDisk disk;
  {
    OpenJournal journal(disk);
    for (int i = 1; i <= 4; ++i) ASSERT_TRUE(journal.AppendMessage("message " + std::to_string(i)));
    ASSERT_TRUE(journal->Checkpoint(2));
    ASSERT_TRUE(journal->EnableSegments(2, 1000));
    ASSERT_TRUE(journal->EnableSegments(2, 1000));
    EXPECT_FALSE(journal->EnableSegments(2, 999));
    EXPECT_FALSE(journal->entries()[0].reference);
    EXPECT_TRUE(journal->entries()[1].reference && journal->entries()[2].reference);
    EXPECT_EQ(SizeOf(disk, Public(2)), 2 * kBody);
  }
  OpenJournal journal(disk);
  ASSERT_TRUE(journal.ok()) << journal.error().Message();
  EXPECT_EQ(Messages(*journal), (Texts{"message 2", "message 3", "message 4"}));
  EXPECT_TRUE(journal.AppendMessage("message 5"));
}

TEST(OwnedSegments, inline_migration_refuses_offset_gaps_before_modifying_history) {
  MemoryDisk disk;
  OpenJournal journal(disk);
  ASSERT_TRUE(journal.AppendMessage("message 1"));
  const Prepare gap = MakeMessages(2, journal->state().head_checksum, 9, "gap");
  const PrepareView view(gap);
  ASSERT_TRUE(journal->AppendBatch(std::span(&view, 1)) && journal->Sync());
  const auto before = disk.Contents();
  EXPECT_EQ(journal->EnableSegments(0, 1000).error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(disk.Contents(), before);
  EXPECT_TRUE(journal.AppendDurably("usable"));
}

TEST(OwnedSegments, given_preallocated_segments_when_recovering_and_replacing_should_keep_sizes) {
  Options options;
  options.preallocate_segments = true;
  MemoryDisk disk;
  {
    OpenJournal journal(disk, options);
    ASSERT_TRUE(journal->EnableSegments(0, 1 << 20));
    ASSERT_TRUE(journal.AppendMessage("message 1") && journal->Sync());
    ASSERT_TRUE(journal.AppendMessage("message 2"));
  }
  OpenJournal journal(disk, options);
  EXPECT_EQ(SizeOf(disk, Public(0)), kBody);
  EXPECT_EQ(Messages(*journal), Texts{"message 1"});
}

// The ten shapes that no journal writes.
TEST(OwnedSegments, malformed_durable_segment_boundaries_are_refused_on_reopen) {
  const MemoryDisk sound = DiskWithSegments(3);
  const SegmentState good = *SlotAt(sound, 0)->state.segments;
  std::vector<SegmentState> shapes(10, good);
  shapes[0].max_size = 0;
  shapes[1].max_size = kSegmentBytesMax + 1;
  shapes[2].next_generation = 0;
  shapes[3].tail.segment.generation = good.next_generation;
  shapes[4].checkpoint.segment.generation = good.next_generation;
  shapes[5].tail.next_offset = 0;
  shapes[6].tail.length = 0;
  shapes[7].checkpoint.length = 1;
  shapes[8].checkpoint.next_offset = good.tail.next_offset + 1;
  shapes[9].tail.segment.start_offset = good.tail.next_offset + 1;
  for (const SegmentState& shape : shapes) {
    EXPECT_FALSE(IsValid(shape));
    MemoryDisk disk = sound;
    Bytes frontier = disk.Read("frontier").value();
    for (std::size_t i = 0; i < kSlotCount; ++i) {
      const auto slot = std::span(frontier).subspan(i * kBlockBytes, kBlockBytes);
      EncodeSegmentState(shape, slot.subspan(slot_at::kSegmentState, slot_at::kSegmentStateBytes));
      StoreLe(slot, slot_at::kChecksum,
              Hash64(std::span<const std::byte>(slot).subspan(slot_at::kChecked)));
    }
    disk.Put("frontier", frontier);
    const auto before = disk.Contents();
    EXPECT_NE(Refusal(disk).find("invalid segment state"), std::string::npos);
    EXPECT_FALSE(OpenJournal(disk).ok());
    EXPECT_EQ(disk.Contents(), before);
  }
}

TEST(OwnedSegments, synchronized_corruption_and_shortening_of_owned_segment_blocks_is_refused) {
  const MemoryDisk sound = DiskWithSegments(3);
  const std::string name = RetainedName({0, 0});
  const Bytes bytes = sound.Read(name).value();
  for (std::size_t at = 0; at < bytes.size(); at += 61) {
    for (const bool cut : {false, true}) {
      MemoryDisk disk = sound;
      Bytes damaged = bytes;
      damaged[at] ^= std::byte{1};
      if (cut) damaged = Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
      disk.Put(name, damaged);
      auto before = disk.Contents();
      EXPECT_NE(Refusal(disk), "") << at;
      EXPECT_FALSE(OpenJournal(disk).ok());
      EXPECT_EQ(disk.Contents(), before);
    }
  }
}

TEST(OwnedSegments, sealed_tail_removed_by_retention_stays_absent_after_recovery) {
  MemoryDisk disk = DiskWithSegments(4);
  { ASSERT_TRUE(OpenJournal(disk)->Checkpoint(4)); }
  disk.Remove(Public(0));
  OpenJournal journal(disk);
  ASSERT_TRUE(journal.ok()) << journal.error().Message();
  EXPECT_FALSE(disk.Read(Public(0)));
  EXPECT_TRUE(journal.AppendMessage("message 5") && journal->Sync());
}

TEST(OwnedSegments, APublicNameThatWasLostComesBack) {
  MemoryDisk disk = DiskWithSegments(2);
  disk.Remove(Public(0));
  disk.Put(Public(0) + ".tmp", Bytes(3));
  const OpenJournal journal(disk);
  EXPECT_TRUE(journal.ok());
  EXPECT_EQ(disk.Read(Public(0)), disk.Read(RetainedName({0, 0})));
  EXPECT_FALSE(disk.Read(Public(0) + ".tmp"));
}

TEST(OwnedSegments, ATransferredCheckpointUsesTheEndOfItsSegment) {
  for (const bool in_place : {true, false}) {
    MemoryDisk disk = DiskWithSegments(2);
    const Prepare checkpoint = MakeMessages(9, 77, 20, "message 9");
    const auto body = std::span(checkpoint).subspan(prepare_at::kBody);
    Bytes segment(100 + body.size(), std::byte{7});
    std::copy(body.begin(), body.end(), segment.begin() + 100);
    if (!in_place) segment.back() ^= std::byte{1};
    {
      OpenJournal journal(disk);
      disk.Put(Public(18), segment);
      SegmentCursor cursor{{0, 18}, segment.size() + 1, 21};
      EXPECT_EQ(journal->ResetWithSegments(checkpoint, cursor, 1000).error().kind,
                ErrorKind::kInvalid);
      EXPECT_EQ(journal->head(), 2U);
      cursor.length = segment.size();
      ASSERT_TRUE(journal->ResetWithSegments(checkpoint, cursor, 1000));
      EXPECT_EQ(journal->entries()[0].reference.has_value(), in_place);
      ASSERT_TRUE(journal.AppendMessage("message 10") && journal->Sync());
    }
    OpenJournal journal(disk);
    ASSERT_TRUE(journal.ok()) << journal.error().Message();
    EXPECT_EQ(Messages(*journal), (Texts{"message 9", "message 10"}));
    EXPECT_EQ(journal->head(), 10U);
  }
}

// J.2, first: the first reference lies past a frontier that knows of none, and the newer slot is
// lost.
TEST(Hole, J2FirstReferenceInTheTailIsAdopted) {
  MemoryDisk disk;
  {
    OpenJournal journal(disk);
    ASSERT_TRUE(journal.AppendDurably("inline"));
    ASSERT_TRUE(journal.AppendReference(1, 0, "message 1") && journal->Sync());
  }
  DamageSlot(disk, NewestPosition(disk));
  EXPECT_NE(Refusal(disk, Without({Rule::kAcceptReferencesInTail})), "");
  OpenJournal journal(disk);
  ASSERT_TRUE(journal.ok()) << journal.error().Message();
  EXPECT_EQ(journal->durable_head(), 2U);
  EXPECT_TRUE(journal->state().references);
}

// J.2, second: bodies that only the page cache holds are verified, adopted and published.
int LossesAfterAdoption(const Options& options) {
  MemoryDisk disk = DiskWithSegments(2);
  DamageSlot(disk, 1 - NewestPosition(disk));
  {
    OpenJournal journal(disk, Without({Rule::kRepublishDamagedSlot}));
    EXPECT_TRUE(journal.AppendMessage("buffered"));
  }
  disk.Kill();
  { EXPECT_EQ(OpenJournal(disk, options)->durable_head(), 3U); }
  int losses = 0;
  for (std::uint64_t seed = 0; seed < 32; ++seed) {
    MemoryDisk dark = disk;
    Rng rng(seed);
    dark.PowerLoss(rng, Tear::kNone);
    losses += Refusal(dark).empty() ? 0 : 1;
  }
  return losses;
}

TEST(Hole, J2AdoptedBodiesAreSyncedBeforeTheyArePublished) {
  EXPECT_EQ(LossesAfterAdoption({}), 0);
  EXPECT_GT(LossesAfterAdoption(Without({Rule::kSyncAdoptedBodies})), 0);
}

// H.9 (b): a link whose deletion failed is used again, and the deletion is tried again.
bool SurvivesReuseOfALink(const Options& options) {
  MemoryDisk disk = DiskWithSegments(4);
  OpenJournal journal(disk, options);
  EXPECT_TRUE(journal.AppendMessage("buffered"));  // Creates segment 1-4.
  disk.Kill();
  disk.Remove(Public(4));
  disk.failing_unlinks = 1;
  OpenJournal second(disk, options);
  if (!second.ok()) return false;
  EXPECT_TRUE(second.AppendMessage("adopts the link") && second->Sync());
  second->Reclaim();
  return Refusal(disk).empty();
}

TEST(Hole, H9an_append_reclaims_the_retained_link_it_adopts) {
  EXPECT_TRUE(SurvivesReuseOfALink({}));
  EXPECT_FALSE(SurvivesReuseOfALink(Without({Rule::kCancelReclaimOnReuse})));
}

}  // namespace
}  // namespace tornfs::journal
