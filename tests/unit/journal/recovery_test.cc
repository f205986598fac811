// The recovery table, row by row. A refusal must leave every file as it was.
#include "journal/recovery.h"

#include <gtest/gtest.h>

#include "fixture.h"

namespace tornfs::journal {
namespace {

using Bytes = MemoryDisk::Bytes;

// Opening for writing and opening for reading refuse with the same words and change nothing.
void ExpectRefusal(MemoryDisk disk, const std::string& text, ErrorKind kind = ErrorKind::kDamaged,
                   const Options& options = {}) {
  auto before = disk.Contents();
  EXPECT_NE(Refusal(disk, options).find(text), std::string::npos) << Refusal(disk, options);
  const OpenJournal journal(disk, options);
  ASSERT_FALSE(journal.ok());
  EXPECT_EQ(journal.error().kind, kind);
  EXPECT_NE(journal.error().Message().find(text), std::string::npos) << journal.error().Message();
  auto after = disk.Contents();
  before.erase("lock");
  after.erase("lock");
  EXPECT_EQ(before, after);
}

// Both ways of opening accept; returns the head.
std::uint64_t ExpectOpen(MemoryDisk& disk, const Options& options = {}) {
  EXPECT_EQ(Refusal(disk, options), "");
  OpenJournal journal(disk, options);
  EXPECT_TRUE(journal.ok()) << journal.error().Message();
  if (!journal.ok()) return 0;
  EXPECT_EQ(journal->head(), journal->durable_head());
  EXPECT_TRUE(SlotAt(disk, 0) && SlotAt(disk, 1));
  EXPECT_EQ(disk.Read(DataFileName(journal->state().generation))->size(), journal->state().length);
  return journal->head();
}

void Append(MemoryDisk& disk, const std::string& name, const Bytes& tail) {
  Bytes bytes = disk.Read(name).value();
  bytes.insert(bytes.end(), tail.begin(), tail.end());
  disk.Put(name, bytes);
}

void Flip(MemoryDisk& disk, const std::string& name, std::size_t at) {
  Bytes bytes = disk.Read(name).value();
  bytes[at] ^= std::byte{1};
  disk.Put(name, bytes);
}

const std::string kData = DataFileName(0);

// Three records; the third is buffered, so it lies past the frontier.
MemoryDisk DiskWithTail() {
  MemoryDisk disk = DiskWith(2);
  OpenJournal journal(disk);
  EXPECT_TRUE(journal.Append("buffered"));
  MemoryDisk copy = disk;
  copy.Kill();
  return copy;
}

TEST(RecoveryTable, Row01UnknownFrontierSize) {
  for (const std::size_t size : {1U, 512U, 4095U, 4096U, 6144U, 8191U, 8193U, 12288U}) {
    MemoryDisk disk = DiskWith(3);
    Bytes frontier = disk.Read("frontier").value();
    frontier.resize(size);
    disk.Put("frontier", frontier);
    ExpectRefusal(disk, "unknown frontier size");
  }
}

TEST(RecoveryTable, Row02FreshDirectory) {
  MemoryDisk empty;
  EXPECT_EQ(ExpectOpen(empty), 0U);
  MemoryDisk scratch;
  scratch.Put("frontier.tmp", Bytes(100));
  EXPECT_EQ(ExpectOpen(scratch), 0U);
  EXPECT_FALSE(scratch.Read("frontier.tmp"));
  MemoryDisk data;
  data.Put(kData, {});
  data.Put("lock", {});
  EXPECT_EQ(ExpectOpen(data), 0U);
}

TEST(RecoveryTable, Row03HistoryWithoutFrontier) {
  MemoryDisk data;
  data.Put(kData, Bytes(1));
  ExpectRefusal(data, "history without its durable frontier");
  for (const char* name : {"prepares-1.wal", "prepares-00.wal", "segment-0-0.log", "notes"}) {
    MemoryDisk foreign;
    foreign.Put(name, {});
    ExpectRefusal(foreign, "history without its durable frontier");
  }
}

TEST(RecoveryTable, Row04EmptyFrontier) {
  MemoryDisk disk;
  disk.Put("frontier", {});
  ExpectRefusal(disk, "unknown frontier size: 0");
}

TEST(RecoveryTable, Row05UnreadableFrontier) {
  MemoryDisk disk = DiskWith(2);
  DamageSlot(disk, 0);
  DamageSlot(disk, 1);
  ExpectRefusal(disk, "unreadable frontier");
}

TEST(RecoveryTable, Row06IdentityDiffers) {
  Options other;
  other.identity = Identity{1, 2};
  ExpectRefusal(DiskWith(2), "identity mismatch", ErrorKind::kIdentity, other);
  MemoryDisk disk = DiskWith(2);
  Options same;
  same.identity = Identity{1, 1};
  EXPECT_EQ(ExpectOpen(disk, same), 2U);
}

TEST(RecoveryTable, Row07DataFileMissing) {
  MemoryDisk disk = DiskWith(2);
  disk.Remove(kData);
  ExpectRefusal(disk, "is missing");
}

TEST(RecoveryTable, Row08LostAcknowledgedBytes) {
  for (const bool slot_lost : {false, true}) {
    MemoryDisk disk = DiskWith(3);
    if (slot_lost) DamageSlot(disk, 1 - NewestPosition(disk));
    Bytes data = disk.Read(kData).value();
    data.pop_back();
    disk.Put(kData, data);
    ExpectRefusal(disk, "lost acknowledged bytes");
  }
}

TEST(RecoveryTable, Row09PublishedRecordsDoNotVerify) {
  for (const std::size_t at : {0U, 8U, 16U, 40U, 290U}) {
    for (std::size_t record = 0; record < 3; ++record) {
      MemoryDisk disk = DiskWith(3);
      Flip(disk, kData, record * kBlockBytes + at);
      ExpectRefusal(disk, "prepares-0.wal: record at byte " + std::to_string(record * kBlockBytes));
    }
  }
}

TEST(RecoveryTable, Row09ZeroedRecordIsNotAnUnwrittenTail) {
  MemoryDisk disk = DiskWith(3);
  Bytes data = disk.Read(kData).value();
  std::fill_n(data.begin() + kBlockBytes, kBlockBytes, std::byte{0});
  disk.Put(kData, data);
  ExpectRefusal(disk, "impossible length of 0");
}

TEST(RecoveryTable, Row09FrontierDisagreesWithItsData) {
  MemoryDisk disk = DiskWith(3);
  const std::size_t newest = NewestPosition(disk);
  Slot slot = *SlotAt(disk, newest);
  slot.state.head_checksum ^= 1;
  PutSlot(disk, newest, slot);
  ExpectRefusal(disk, "frontier disagrees with its data");
}

TEST(RecoveryTable, Row09RecordsOutOfOrder) {
  MemoryDisk disk = DiskWith(3);
  Bytes data = disk.Read(kData).value();
  std::swap_ranges(data.begin(), data.begin() + kBlockBytes, data.begin() + kBlockBytes);
  disk.Put(kData, data);
  ExpectRefusal(disk, "breaks the chain");
}

TEST(RecoveryTable, Row11BothSlotsGood) {
  MemoryDisk disk = DiskWith(3);
  const auto before = disk.Contents();
  EXPECT_EQ(ExpectOpen(disk), 3U);
  EXPECT_EQ(disk.Contents(), before);
}

TEST(RecoveryTable, Row12TailIsCutWhateverItHolds) {
  MemoryDisk whole = DiskWithTail();
  EXPECT_EQ(ExpectOpen(whole), 2U);
  for (const std::size_t size : {1U, 511U, 4096U, 5000U}) {
    MemoryDisk disk = DiskWith(2);
    Append(disk, kData, Bytes(size, std::byte{0xee}));
    EXPECT_EQ(ExpectOpen(disk), 2U);
  }
}

TEST(RecoveryTable, Row13LostSlotWithoutATail) {
  for (const std::size_t position : {0U, 1U}) {
    MemoryDisk disk = DiskWith(3);
    DamageSlot(disk, position);
    EXPECT_EQ(ExpectOpen(disk), 3U) << position;
  }
}

TEST(RecoveryTable, Row14LostSlotAdoptsTheWholeTail) {
  MemoryDisk older = DiskWithTail();
  DamageSlot(older, 1 - NewestPosition(older));
  EXPECT_EQ(ExpectOpen(older), 3U);
  MemoryDisk newer = DiskWithTail();
  DamageSlot(newer, NewestPosition(newer));
  EXPECT_EQ(ExpectOpen(newer), 3U);
}

TEST(RecoveryTable, a_lost_frontier_slot_recovers_the_acknowledged_tail) {
  MemoryDisk disk = DiskWith(2);
  MemoryDisk sound = disk;
  const std::uint64_t retained = OpenJournal(sound)->retained_bytes();
  Bytes frontier = disk.Read("frontier").value();
  EXPECT_EQ(frontier.size(), kFrontierBytes);
  EXPECT_FALSE(disk.Read("frontier.tmp"));
  std::fill_n(frontier.begin() + static_cast<std::ptrdiff_t>(NewestPosition(disk) * kBlockBytes),
              kBlockBytes, std::byte{0});
  disk.Put("frontier", frontier);
  OpenJournal journal(disk);
  ASSERT_TRUE(journal.ok()) << journal.error().Message();
  EXPECT_EQ(journal->durable_head(), 2U);
  // What was adopted counts like anything else.
  EXPECT_EQ(journal->entries().size(), 2U);
  EXPECT_EQ(journal->retained_bytes(), retained);
}

TEST(RecoveryTable, a_lost_frontier_slot_does_not_hide_damaged_acknowledged_records) {
  for (const bool zeroed : {false, true}) {
    MemoryDisk disk = DiskWith(3);
    DamageSlot(disk, NewestPosition(disk));
    Bytes data = disk.Read(kData).value();
    if (zeroed) {
      std::fill(data.end() - kBlockBytes, data.end(), std::byte{0});
    } else {
      data.resize(data.size() - 1000);
    }
    disk.Put(kData, data);
    ExpectRefusal(disk, "prepares-0.wal: record at byte 8192");
  }
}

TEST(RecoveryTable, lost_frontier_cannot_turn_a_durable_journal_into_an_empty_one) {
  MemoryDisk disk = DiskWith(2);
  disk.Remove("frontier");
  ExpectRefusal(disk, "history without its durable frontier");
}

TEST(RecoveryTable, Row14BindsTheFirstParent) {
  MemoryDisk disk = DiskWith(1);
  DamageSlot(disk, NewestPosition(disk));
  EXPECT_EQ(ExpectOpen(disk), 1U);
}

TEST(RecoveryTable, Row15BadTailIsRefused) {
  const auto damaged = [] {
    MemoryDisk disk = DiskWithTail();
    DamageSlot(disk, NewestPosition(disk));
    return disk;
  };
  MemoryDisk flipped = damaged();
  Flip(flipped, kData, 2 * kBlockBytes + 290);
  ExpectRefusal(flipped, "checksum mismatch");
  MemoryDisk cut = damaged();
  Bytes data = cut.Read(kData).value();
  data.resize(data.size() - 100);
  cut.Put(kData, data);
  ExpectRefusal(cut, "is not a whole block");
  MemoryDisk repeated = damaged();
  data = repeated.Read(kData).value();
  Append(repeated, kData, Bytes(data.end() - kBlockBytes, data.end()));
  ExpectRefusal(repeated, "breaks the chain");
}

TEST(RecoveryTable, Row15ForeignGenerationIsRefused) {
  MemoryDisk disk = DiskWith(2);
  const std::size_t newest = NewestPosition(disk);
  const Prepare prepare = MakePrepare(3, SlotAt(disk, newest)->state.head_checksum, "x");
  DamageSlot(disk, 1 - newest);
  Bytes record(kBlockBytes);
  EncodeRecord(1, prepare, record);
  Append(disk, kData, record);
  ExpectRefusal(disk, "belongs to generation 1");
}

TEST(RecoveryTable, Row15CrossingRecordIsRefused) {
  MemoryDisk disk = DiskWithTail();
  DamageSlot(disk, NewestPosition(disk));
  Bytes data = disk.Read(kData).value();
  data[2 * kBlockBytes + 1] = std::byte{0x20};  // 8 KiB and more in a file that ends at 12 KiB.
  disk.Put(kData, data);
  ExpectRefusal(disk, "crosses its limit");
}

}  // namespace
}  // namespace tornfs::journal
