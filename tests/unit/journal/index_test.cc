// The index of a segment, and the recovery of the two together.
#include "journal/index.h"

#include <gtest/gtest.h>

#include "fixture.h"
#include "journal/batch.h"
#include "journal/posix_storage.h"
#include "journal/segment_recovery.h"

namespace tornfs::journal {
namespace {

using Bytes = MemoryDisk::Bytes;

const std::string kLog = InPartition(PublicName(10));
const std::string kIndex = InPartition(IndexName(10));
constexpr std::size_t kBatch = kBatchHeaderBytes + 3;

Bytes Batch(std::uint64_t offset) {
  BatchHeader header;
  header.base_offset = offset;
  header.base_timestamp = offset * 100;
  return BuildBatch(header, Bytes(3, std::byte{'m'}));
}

// A segment of `batches` batches from offset 10, and an index entry for each of the first
// `indexed`.
MemoryDisk Segment(std::uint64_t batches, std::uint64_t indexed) {
  MemoryDisk disk;
  Bytes log;
  std::vector<IndexEntry> entries;
  for (std::uint64_t i = 0; i < std::max(batches, indexed); ++i) {
    if (i < indexed) entries.push_back({10 + i, (10 + i) * 100, i * kBatch});
    if (i >= batches) continue;
    const Bytes batch = Batch(10 + i);
    log.insert(log.end(), batch.begin(), batch.end());
  }
  disk.Put(kLog, log);
  disk.Put(kIndex, EncodeIndex(entries));
  return disk;
}

Result<SegmentReport> Recover(MemoryDisk& disk) {
  const auto storage = disk.Attach();
  return RecoverSegment(*storage, 10);
}

void ExpectRefusal(MemoryDisk disk, SegmentRefusal refusal) {
  const auto before = disk.Contents();
  const auto report = Recover(disk);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().Message().rfind(SegmentRefusalName(refusal), 0), 0U)
      << report.error().Message();
  EXPECT_EQ(disk.Contents(), before);
}

TEST(SegmentRecovery, ACleanSegmentIsUntouched) {
  for (const std::uint64_t indexed : {1U, 4U}) {
    MemoryDisk disk = Segment(4, indexed);
    const auto before = disk.Contents();
    const auto report = Recover(disk);
    ASSERT_TRUE(report) << report.error().Message();
    EXPECT_EQ(report->next_offset, 14U);
    EXPECT_FALSE(report->log_cut || report->index_rebuilt);
    EXPECT_EQ(disk.Contents(), before);
  }
}

TEST(SegmentRecovery, ATornTailIsCutAndTheIndexRebuiltOnce) {
  MemoryDisk disk = Segment(4, 4);
  Bytes log = disk.Read(kLog).value();
  log.resize(log.size() - 5);
  disk.Put(kLog, log);
  const auto report = Recover(disk);
  ASSERT_TRUE(report) << report.error().Message();
  EXPECT_TRUE(report->log_cut && report->index_rebuilt);
  EXPECT_EQ(report->next_offset, 13U);
  const auto repaired = disk.Contents();
  EXPECT_FALSE(Recover(disk)->index_rebuilt);
  EXPECT_EQ(disk.Contents(), repaired);
}

TEST(SegmentRecovery, AContradictingOrMissingIndexIsRebuilt) {
  MemoryDisk disk = Segment(3, 3);
  disk.Put(kIndex, EncodeIndex(std::vector<IndexEntry>{{10, 0, 0}, {9, 0, 5}}));
  EXPECT_TRUE(Recover(disk)->index_rebuilt);
  EXPECT_EQ(DecodeIndex(disk.Read(kIndex).value()).size(), 3U);
  disk.Remove(kIndex);
  EXPECT_TRUE(Recover(disk)->index_rebuilt);
  Bytes torn = disk.Read(kIndex).value();
  torn.pop_back();
  disk.Put(kIndex, torn);
  EXPECT_TRUE(Recover(disk)->index_rebuilt);
}

TEST(SegmentRecovery, LossBelowTheIndexIsRefused) {
  ExpectRefusal(Segment(2, 4), SegmentRefusal::kFsyncedLogLoss);
  ExpectRefusal(Segment(0, 4), SegmentRefusal::kFsyncedLogLoss);
  EXPECT_TRUE([] {
    MemoryDisk disk = Segment(3, 4);
    return Recover(disk).has_value();
  }());
}

TEST(SegmentRecovery, ALogThatEndsBeforeItsIndexIsRefused) {
  // The last entry is not backed, the one before is, and the walk stops before both: the first
  // batch is damaged, the scan finds no other.
  MemoryDisk disk = Segment(1, 1);
  disk.Put(kIndex, EncodeIndex(std::vector<IndexEntry>{{10, 0, 0}, {20, 0, 3 * kBatch}}));
  ExpectRefusal(disk, SegmentRefusal::kFsyncedRebuildShortfall);
}

TEST(SegmentRecovery, ASoundBatchBehindDamageIsRefused) {
  for (const std::size_t at : {0U, 32U, 40U, 258U}) {
    MemoryDisk disk = Segment(3, 3);
    Bytes log = disk.Read(kLog).value();
    log[kBatch + at] ^= std::byte{1};
    disk.Put(kLog, log);
    ExpectRefusal(disk, SegmentRefusal::kInteriorDamage);
  }
}

TEST(SegmentRecovery, GapsAndRegressionsAreRefused) {
  for (const std::uint64_t offset : {10U, 13U}) {
    MemoryDisk disk = Segment(1, 1);
    Bytes log = disk.Read(kLog).value();
    const Bytes batch = Batch(offset);
    log.insert(log.end(), batch.begin(), batch.end());
    disk.Put(kLog, log);
    ExpectRefusal(disk, SegmentRefusal::kOffsetGap);
  }
}

// An offset that rose and one that fell are one verdict: the batch does not verify.
TEST(SegmentRecovery, FlippedOffsetsAreRefusedInBothDirections) {
  for (unsigned bit = 0; bit < 64; ++bit) {
    MemoryDisk disk = Segment(4, 2);
    Bytes log = disk.Read(kLog).value();
    log[kBatch + 8 + bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    disk.Put(kLog, log);
    ExpectRefusal(disk, SegmentRefusal::kInteriorDamage);
  }
}

// Whatever byte is hit: what is accepted keeps whole batches only, and loses none but the last.
TEST(SegmentRecovery, DamageOfLogAndIndexIsRepairedOrRefused) {
  const MemoryDisk sound = Segment(4, 4);
  const Bytes whole = sound.Read(kLog).value();
  for (const std::string& name : {kLog, kIndex}) {
    const Bytes bytes = sound.Read(name).value();
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      for (int way = 0; way < 4; ++way) {
        Bytes bad = bytes;
        if (way == 0) bad[at] ^= std::byte{0x04};
        if (way == 1) std::fill_n(bad.begin() + static_cast<std::ptrdiff_t>(at), 1, std::byte{0});
        if (way == 2) bad.resize(at);
        if (way == 3) bad.insert(bad.end(), at + 1, std::byte{0xa5});
        MemoryDisk disk = sound;
        disk.Put(name, bad);
        const auto before = disk.Contents();
        const auto report = Recover(disk);
        if (!report) {
          EXPECT_EQ(disk.Contents(), before) << name << at << way;
          continue;
        }
        const Bytes log = disk.Read(kLog).value();
        EXPECT_TRUE(log.size() == whole.size() || log.size() == 3 * kBatch) << name << at << way;
        EXPECT_TRUE(std::equal(log.begin(), log.end(), whole.begin())) << name << at << way;
        const auto repaired = disk.Contents();
        EXPECT_TRUE(Recover(disk));
        EXPECT_EQ(disk.Contents(), repaired) << name << at << way;
      }
    }
  }
}

// The system's own file that no fsync works on.
TEST(IndexWriter, AFileThatCannotBeSyncedFailsTheBarrier) {
  PosixStorage storage("/tmp");
  const auto file = storage.Open("/dev/null", OpenMode::kReadWrite);
  ASSERT_TRUE(file);
  auto writer = IndexWriter::Open(**file, 0);
  ASSERT_TRUE(writer);
  writer->Add({10, 1, 0});
  EXPECT_TRUE(writer->Save());
  EXPECT_EQ(writer->Barrier().error().kind, ErrorKind::kIo);
}

TEST(IndexWriter, buffered_indexes_defer_sync_errors_to_the_original_writer_barrier) {
  MemoryDisk disk;
  const auto storage = disk.Attach();
  const auto file = storage->Open(kIndex, OpenMode::kCreate);
  auto writer = IndexWriter::Open(**file, 0);
  ASSERT_TRUE(writer);
  EXPECT_TRUE(writer->Barrier());
  EXPECT_EQ(disk.counts.file_syncs, 0);
  writer->Add({10, 1, 0});
  disk.fail_call = disk.calls();
  EXPECT_FALSE(writer->Save());
  EXPECT_EQ(writer->saved_bytes(), 0U);
  EXPECT_TRUE(writer->Save());
  EXPECT_EQ(writer->saved_bytes(), kIndexEntryBytes);
  disk.fail_call = disk.calls();
  EXPECT_FALSE(writer->Barrier());
  EXPECT_TRUE(writer->Barrier());
  EXPECT_TRUE(writer->Barrier());
  EXPECT_EQ(disk.counts.file_syncs, 1);
  EXPECT_FALSE(IndexWriter::Open(**file, 48));
}

}  // namespace
}  // namespace tornfs::journal
