// Segments one after the other: what a rotation costs, what is left when it is cut short, and what
// names of segments may never mean.
#include <gtest/gtest.h>

#include "common/bytes.h"
#include "common/hash.h"
#include "fixture.h"
#include "journal/batch.h"

namespace tornfs::journal {
namespace {

using Bytes = MemoryDisk::Bytes;
using Texts = std::vector<std::string>;

constexpr std::size_t kBody = kBatchHeaderBytes + 9;  // Of a message of 9 characters.

std::string Public(std::uint64_t start_offset) { return InPartition(PublicName(start_offset)); }

bool SameFile(MemoryDisk& disk, const std::string& a, const std::string& b) {
  return disk.Attach()->SameFile(a, b) == true;
}

TEST(Rotation, buffered_owned_segments_rotate_without_barriers_and_persist_offset_predecessors) {
  MemoryDisk disk = DiskWithSegments(1, 2 * kBody);
  {
    OpenJournal journal(disk);
    disk.counts = {};
    for (int i = 2; i <= 5; ++i) {
      ASSERT_TRUE(journal.AppendMessage("message " + std::to_string(i)));
    }
    EXPECT_EQ(disk.counts.creates, 2);
    EXPECT_EQ(disk.counts.file_syncs + disk.counts.directory_syncs, 0);
    // What follows the bodies in the log makes them durable, all of them.
    ASSERT_TRUE(journal.AppendDurably("an offset"));
    EXPECT_EQ(disk.counts.file_syncs, 5);  // Three segments, records, slot.
    EXPECT_EQ(disk.counts.directory_syncs, 2);
  }
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    MemoryDisk dark = disk;
    Rng rng(seed);
    dark.PowerLoss(rng, Tear::kByte);
    OpenJournal journal(dark);
    ASSERT_TRUE(journal.ok()) << journal.error().Message();
    EXPECT_EQ(journal->head(), 6U);
    EXPECT_EQ(Messages(*journal).size(), 5U);
  }
}

TEST(Rotation, persisted_offsets_wait_for_every_buffered_body_sync_and_fence_on_failure) {
  bool reached = true;
  for (int call = 0; reached; ++call) {
    MemoryDisk disk = DiskWithSegments(1, 2 * kBody);
    {
      OpenJournal journal(disk);
      for (int i = 0; i < 4; ++i) ASSERT_TRUE(journal.AppendMessage("a message"));
      disk.fail_call = disk.calls() + call;
      const bool done = journal.AppendDurably("an offset").has_value();
      reached = disk.calls() > *disk.fail_call;
      disk.fail_call.reset();
      EXPECT_EQ(journal->poisoned(), !done);
      EXPECT_EQ(done, !reached);
      EXPECT_EQ(journal->durable_head(), done ? 6U : 1U);
    }
    disk.Kill();
    const OpenJournal journal(disk);
    EXPECT_TRUE(journal.ok()) << journal.error().Message();
    ASSERT_LT(call, 30);
  }
}

TEST(Rotation, failed_vectored_body_group_never_publishes_a_partial_prefix) {
  bool reached = true;
  for (int call = 0; reached; ++call) {
    for (const bool half_way : {false, true}) {
      MemoryDisk disk = DiskWithSegments(1, 2 * kBody);
      {
        OpenJournal journal(disk);
        std::vector<Prepare> prepares;
        std::uint64_t parent = journal->state().head_checksum;
        for (std::uint64_t i = 0; i < 4; ++i) {
          prepares.push_back(MakeMessages(2 + i, parent, 1 + i, "a message"));
          parent = ChecksumOf(prepares.back());
        }
        const std::vector<PrepareView> views(prepares.begin(), prepares.end());
        disk.fail_call = disk.calls() + call;
        disk.fail_half_way = half_way;
        Status done = journal->AppendBatch(views);
        if (done) done = journal->Sync();
        reached = disk.calls() > *disk.fail_call;
        disk.fail_call.reset();
        EXPECT_EQ(done.has_value(), !reached);
      }
      disk.Kill();
      OpenJournal journal(disk);
      ASSERT_TRUE(journal.ok()) << journal.error().Message();
      EXPECT_TRUE(journal->head() == 1 || journal->head() == 5) << journal->head();
      EXPECT_EQ(Messages(*journal).size(), journal->head());
    }
    ASSERT_LT(call, 40);
  }
}

// Killed behind each effect of a rotation: afterwards both names of each segment that counts are
// one file.
TEST(Rotation, segment_roll_during_wal_create_and_link_keeps_the_same_inode) {
  for (int effect = 0;; ++effect) {
    MemoryDisk disk = DiskWithSegments(2, 2 * kBody);
    disk.stop_after_effect = disk.effects() + effect;
    {
      OpenJournal journal(disk);
      if (journal.ok() && journal.AppendMessage("message 3")) (void)journal->Sync();
    }
    const bool stopped = disk.stopped();
    disk.Kill();
    {
      OpenJournal journal(disk);
      ASSERT_TRUE(journal.ok()) << effect << journal.error().Message();
      if (journal->head() == 2) {
        ASSERT_TRUE(journal.AppendMessage("message 3") && journal->Sync());
      }
      EXPECT_EQ(Messages(*journal), (Texts{"message 1", "message 2", "message 3"}));
      const SegmentKey tail = journal->state().segments->tail.segment;
      EXPECT_TRUE(SameFile(disk, Public(0), RetainedName({0, 0}))) << effect;
      EXPECT_TRUE(SameFile(disk, Public(tail.start_offset), RetainedName(tail))) << effect;
    }
    if (!stopped) return;
    ASSERT_LT(effect, 60);
  }
}

// The public name is gone and the open that puts it back is cut short, at each effect.
TEST(Rotation, sealed_tail_recovery_preserves_the_public_name_at_every_crash_boundary) {
  for (const bool power : {false, true}) {
    for (int effect = 0;; ++effect) {
      MemoryDisk disk = DiskWithSegments(2);
      disk.Remove(Public(0));
      disk.stop_after_effect = disk.effects() + effect;
      { const OpenJournal journal(disk); }
      const bool stopped = disk.stopped();
      Rng rng(static_cast<std::uint64_t>(effect));
      if (power) {
        disk.PowerLoss(rng, Tear::kNone);
      } else {
        disk.Kill();
      }
      OpenJournal journal(disk);
      ASSERT_TRUE(journal.ok()) << journal.error().Message();
      EXPECT_TRUE(SameFile(disk, Public(0), RetainedName({0, 0}))) << effect;
      EXPECT_FALSE(disk.Read(Public(0) + ".tmp"));
      EXPECT_EQ(Messages(*journal).size(), 2U);
      if (!stopped) break;
      ASSERT_LT(effect, 30);
    }
  }
}

// Two generations start at one offset: the older was cut away. With a slot lost the walk over the
// tail must find the bodies of the newer one.
TEST(Rotation, owned_segments_preserve_overlapping_names_for_chain_validation) {
  MemoryDisk disk = DiskWithSegments(3, 2 * kBody);
  {
    Options options;
    options.reclaim_later = true;
    OpenJournal journal(disk, options);
    ASSERT_TRUE(journal->TruncateFrom(3));
    ASSERT_TRUE(journal.AppendMessage("another 3") && journal->Sync());
    ASSERT_TRUE(journal.AppendMessage("message 4") && journal->Sync());
  }
  disk.Kill();
  EXPECT_TRUE(disk.Read(RetainedName({1, 2})) && disk.Read(RetainedName({2, 2})));
  DamageSlot(disk, NewestPosition(disk));
  OpenJournal journal(disk);
  ASSERT_TRUE(journal.ok()) << journal.error().Message();
  EXPECT_EQ(Messages(*journal), (Texts{"message 1", "message 2", "another 3", "message 4"}));
}

TEST(Rotation, invalid_installed_empty_boundary_preserves_public_bytes_and_can_be_retried) {
  MemoryDisk disk = DiskWithSegments(2);
  const Prepare checkpoint = MakePrepare(9, 77, "transferred");
  const SegmentCursor empty{{0, 30}, 0, 30};
  const Bytes foreign(10, std::byte{7});
  {
    OpenJournal journal(disk);
    disk.Put(Public(30), foreign);
    EXPECT_EQ(journal->ResetWithSegments(checkpoint, empty, 1000).error().kind,
              ErrorKind::kInvalid);
    EXPECT_EQ(disk.Read(Public(30)), foreign);
    EXPECT_EQ(journal->head(), 2U);
    disk.Remove(Public(30));
    ASSERT_TRUE(journal->ResetWithSegments(checkpoint, empty, 1000));
    ASSERT_TRUE(journal.AppendMessage("message 10") && journal->Sync());
  }
  OpenJournal journal(disk);
  ASSERT_TRUE(journal.ok()) << journal.error().Message();
  EXPECT_EQ(journal->head(), 10U);
  EXPECT_EQ(journal->next_offset(), 31U);
}

// A cursor far behind anything there: refused without asking for the memory.
TEST(Rotation, oversized_durable_segment_layout_is_refused_before_recovery_allocation) {
  MemoryDisk disk = DiskWithSegments(2);
  Bytes frontier = disk.Read("frontier").value();
  SegmentState segments = *SlotAt(disk, 0)->state.segments;
  segments.tail.length = 1ULL << 60;
  for (std::size_t i = 0; i < kSlotCount; ++i) {
    const auto slot = std::span(frontier).subspan(i * kBlockBytes, kBlockBytes);
    EncodeSegmentState(segments, slot.subspan(slot_at::kSegmentState, slot_at::kSegmentStateBytes));
    StoreLe(slot, slot_at::kChecksum,
            Hash64(std::span<const std::byte>(slot).subspan(slot_at::kChecked)));
  }
  disk.Put("frontier", frontier);
  const auto before = disk.Contents();
  EXPECT_EQ(OpenJournal(disk).error().kind, ErrorKind::kDamaged);
  EXPECT_EQ(disk.Contents(), before);
}

}  // namespace
}  // namespace tornfs::journal
