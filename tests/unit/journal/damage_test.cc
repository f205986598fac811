// Bad input: whatever the files hold, opening ends with a clear refusal or a sound journal, and a
// refusal changes nothing.
#include <gtest/gtest.h>

#include <algorithm>

#include "fixture.h"
#include "journal/batch.h"

namespace tornfs::journal {
namespace {

using Bytes = MemoryDisk::Bytes;

enum class Filling { kKept, kZero, kGarbage };

Bytes Cut(const Bytes& original, std::size_t size, Filling filling, Rng& rng) {
  Bytes bytes = original;
  bytes.resize(size);
  if (filling == Filling::kZero) std::fill(bytes.begin(), bytes.end(), std::byte{0});
  if (filling == Filling::kGarbage) {
    for (std::byte& b : bytes) b = static_cast<std::byte>(rng.Below(256));
  }
  return bytes;
}

// Returns whether the directory was accepted.
bool OpenAndCompare(MemoryDisk& disk) {
  auto before = disk.Contents();
  const std::string refusal = Refusal(disk);
  EXPECT_EQ(disk.Contents(), before);
  const OpenJournal journal(disk);
  EXPECT_EQ(journal.ok(), refusal.empty()) << refusal;
  if (journal.ok()) return true;
  EXPECT_EQ(journal.error().Message(), refusal);
  EXPECT_EQ(refusal.find('\n'), std::string::npos);
  before["lock"] = {};
  EXPECT_EQ(disk.Contents(), before);
  return false;
}

class DamageSweep : public testing::TestWithParam<Filling> {};

TEST_P(DamageSweep, FrontierOfEveryLength) {
  Rng rng(1);
  const MemoryDisk sound = DiskWith(3);
  for (std::size_t size = 0; size <= 12288; size += 512) {
    MemoryDisk disk = sound;
    disk.Put("frontier", Cut(sound.Read("frontier").value(), size, GetParam(), rng));
    const bool whole = GetParam() == Filling::kKept && size == kFrontierBytes;
    EXPECT_EQ(OpenAndCompare(disk), whole) << size;
  }
}

TEST_P(DamageSweep, DataFileOfEveryLength) {
  Rng rng(2);
  const MemoryDisk sound = DiskWith(3);
  for (std::size_t size = 0; size <= 12288; size += 512) {
    MemoryDisk disk = sound;
    disk.Put(DataFileName(0), Cut(sound.Read(DataFileName(0)).value(), size, GetParam(), rng));
    const bool whole = GetParam() == Filling::kKept && size == 3 * kBlockBytes;
    EXPECT_EQ(OpenAndCompare(disk), whole) << size;
  }
}

TEST_P(DamageSweep, DataFileOfEveryLengthWithALostSlot) {
  Rng rng(3);
  MemoryDisk sound = DiskWith(3);
  DamageSlot(sound, NewestPosition(sound));
  for (std::size_t size = 0; size <= 12288; size += 512) {
    MemoryDisk disk = sound;
    disk.Put(DataFileName(0), Cut(sound.Read(DataFileName(0)).value(), size, GetParam(), rng));
    // Losing the newest slot and exactly its record leaves a sound older journal.
    const bool whole =
        GetParam() == Filling::kKept && (size == 2 * kBlockBytes || size == 3 * kBlockBytes);
    EXPECT_EQ(OpenAndCompare(disk), whole) << size;
  }
}

INSTANTIATE_TEST_SUITE_P(Fillings, DamageSweep,
                         testing::Values(Filling::kKept, Filling::kZero, Filling::kGarbage));

// A stretch of bytes with one meaning.
struct Field {
  const char* name;
  std::size_t begin;
  std::size_t end;
};

constexpr Field kSlotFields[] = {{"magic", 0, 8},
                                 {"checksum", 8, 16},
                                 {"identity", 16, 32},
                                 {"generation", 32, 40},
                                 {"length", 40, 48},
                                 {"checkpoint", 48, 72},
                                 {"head", 72, 96},
                                 {"flags", 96, 104},
                                 {"purge marker", 104, 120},
                                 {"certificate", 120, 128},
                                 {"segment state", 128, 208},
                                 {"seal", 208, 216},
                                 {"sequence", 216, 224},
                                 {"reserved", 224, kBlockBytes}};
constexpr std::size_t kReferenceEnd = record_at::kPayload + kReferencePayloadBytes;
constexpr Field kRecordFields[] = {{"payload length", 0, 4},
                                   {"kind", 4, 8},
                                   {"generation", 8, 16},
                                   {"checksum", 16, 24},
                                   {"reserved", 24, 32},
                                   {"prepare", 32, record_at::kPayload + prepare_at::kBody},
                                   {"reference", 288, kReferenceEnd}};

// `original` with the bytes [begin, end) flipped, one at a time, zeroed, and replaced by garbage;
// of long stretches some of the bytes. Only what differs from the original.
std::vector<Bytes> Damaged(const Bytes& original, std::size_t begin, std::size_t end, Rng& rng) {
  std::vector<Bytes> all;
  const auto add = [&](const auto& change, std::size_t from, std::size_t to) {
    Bytes bytes = original;
    for (std::size_t at = from; at < to; ++at) bytes[at] = change(bytes[at]);
    if (bytes != original) all.push_back(bytes);
  };
  const std::size_t step = end - begin > 256 ? 61 : 1;
  for (std::size_t at = begin; at < end; at += step) {
    const auto bit = static_cast<std::byte>(1U << rng.Below(8));
    add([bit](std::byte b) { return b ^ bit; }, at, at + 1);
  }
  add([](std::byte) { return std::byte{0}; }, begin, end);
  add([&](std::byte) { return static_cast<std::byte>(rng.Below(256)); }, begin, end);
  return all;
}

// Two segments, a checkpoint, a certificate.
MemoryDisk Everything() {
  MemoryDisk disk = DiskWithSegments(4, 600);
  OpenJournal journal(disk);
  EXPECT_TRUE(journal->Checkpoint(2));
  EXPECT_TRUE(journal.AppendMessage("message 5") && journal->Sync());
  const State& state = journal->state();
  EXPECT_TRUE(journal->CertifyLogView(3, state.head, state.head_checksum));
  MemoryDisk copy = disk;
  copy.Kill();
  return copy;
}

const std::string kFrontier(kFrontierName);
const std::string kLiveData = DataFileName(2);

TEST(Damage, OneSlotIsRepairedWhateverFieldOfItIsHit) {
  Rng rng(5);
  const MemoryDisk sound = Everything();
  MemoryDisk copy = sound;
  const State state = OpenJournal(copy)->state();
  const Bytes frontier = sound.Read(kFrontier).value();
  for (std::size_t position = 0; position < kSlotCount; ++position) {
    for (const Field& field : kSlotFields) {
      const std::size_t slot = position * kBlockBytes;
      for (const Bytes& bad : Damaged(frontier, slot + field.begin, slot + field.end, rng)) {
        MemoryDisk disk = sound;
        disk.Put(kFrontier, bad);
        EXPECT_EQ(Refusal(disk), "") << field.name;
        OpenJournal journal(disk);
        ASSERT_TRUE(journal.ok()) << field.name;
        EXPECT_EQ(journal->state(), state) << field.name;
        EXPECT_TRUE(SlotAt(disk, 0) && SlotAt(disk, 1)) << field.name;
      }
    }
  }
}

TEST(Damage, TheSameFieldOfBothSlotsIsRefused) {
  Rng rng(6);
  const MemoryDisk sound = Everything();
  const Bytes frontier = sound.Read(kFrontier).value();
  for (const Field& field : kSlotFields) {
    for (const Bytes& once : Damaged(frontier, field.begin, field.end, rng)) {
      Bytes twice = once;
      twice[kBlockBytes + field.begin] ^= std::byte{0x40};
      MemoryDisk disk = sound;
      disk.Put(kFrontier, twice);
      EXPECT_FALSE(OpenAndCompare(disk)) << field.name;
      EXPECT_NE(Refusal(disk).find("unreadable frontier"), std::string::npos) << field.name;
    }
  }
}

TEST(Damage, EveryFieldOfEveryPublishedRecordIsRefused) {
  Rng rng(7);
  const MemoryDisk sound = Everything();
  const Bytes data = sound.Read(kLiveData).value();
  ASSERT_EQ(data.size(), 4 * kBlockBytes);
  for (std::size_t record = 0; record < data.size(); record += kBlockBytes) {
    for (const Field& field : kRecordFields) {
      for (const Bytes& bad : Damaged(data, record + field.begin, record + field.end, rng)) {
        MemoryDisk disk = sound;
        disk.Put(kLiveData, bad);
        EXPECT_FALSE(OpenAndCompare(disk)) << field.name;
      }
    }
    // Padding is nobody's: it is outside the checksum, and no reader looks at it.
    for (const Bytes& bad : Damaged(data, record + kReferenceEnd, record + kBlockBytes, rng)) {
      MemoryDisk disk = sound;
      disk.Put(kLiveData, bad);
      EXPECT_TRUE(OpenAndCompare(disk));
    }
  }
}

// Row 13 with both slots, row 15 with one.
TEST(Damage, BytesBehindTheFrontierAreCutOrRefused) {
  for (const bool slot_lost : {false, true}) {
    for (const std::size_t more : {1U, 511U, 4096U, 5000U, 8192U}) {
      for (const std::byte filling : {std::byte{0}, std::byte{0xa5}}) {
        MemoryDisk disk = Everything();
        if (slot_lost) DamageSlot(disk, NewestPosition(disk));
        Bytes data = disk.Read(kLiveData).value();
        data.resize(data.size() + more, filling);
        disk.Put(kLiveData, data);
        EXPECT_EQ(OpenAndCompare(disk), !slot_lost);
        EXPECT_EQ(disk.Read(kLiveData)->size(), 4 * kBlockBytes + (slot_lost ? more : 0));
      }
    }
  }
}

// Row 16. The tail may be longer than its cursor: an append that was never published.
TEST(Damage, EverySegmentIsVerified) {
  Rng rng(8);
  const MemoryDisk sound = Everything();
  for (const SegmentKey& key : {SegmentKey{0, 0}, SegmentKey{1, 3}}) {
    const std::string name = RetainedName(key);
    const auto bytes = sound.Read(name);
    ASSERT_TRUE(bytes) << name;
    // The checkpoint's own body is the first that is still needed.
    const std::size_t needed = key.generation == 0 ? kBatchHeaderBytes + 9 : 0;
    for (const Bytes& bad : Damaged(*bytes, needed, bytes->size(), rng)) {
      MemoryDisk disk = sound;
      disk.Put(name, bad);
      EXPECT_FALSE(OpenAndCompare(disk)) << name;
    }
    for (std::size_t size = 0; size < bytes->size(); size += 100) {
      MemoryDisk disk = sound;
      disk.Put(name, Bytes(bytes->begin(), bytes->begin() + static_cast<std::ptrdiff_t>(size)));
      EXPECT_FALSE(OpenAndCompare(disk)) << name << " cut to " << size;
    }
    MemoryDisk longer = sound;
    Bytes extended = *bytes;
    extended.resize(extended.size() + 1000, std::byte{0xa5});
    longer.Put(name, extended);
    EXPECT_TRUE(OpenAndCompare(longer)) << name;
    MemoryDisk missing = sound;
    missing.Remove(name);
    EXPECT_FALSE(OpenAndCompare(missing)) << name;
  }
}

// Files whose content means nothing, and the index, which belongs to the owner of the messages.
TEST(Damage, NothingElseMatters) {
  for (const std::string& name :
       {std::string("lock"), std::string(kSuspectName), std::string("frontier.tmp"),
        InPartition(IndexName(0)), DataFileName(9), RetainedName({9, 9})}) {
    MemoryDisk disk = Everything();
    const auto data = disk.Read(kLiveData);
    disk.Put(name, Bytes(5000, std::byte{0xa5}));
    EXPECT_EQ(Refusal(disk), "") << name;
    OpenJournal journal(disk);
    ASSERT_TRUE(journal.ok()) << name;
    EXPECT_EQ(journal->head(), 5U) << name;
    EXPECT_EQ(Messages(*journal).size(), 4U) << name;
    EXPECT_EQ(disk.Read(kLiveData), data) << name;
  }
}

TEST(Damage, synchronized_corruption_in_any_record_block_is_refused) {
  MemoryDisk sound = DiskWith(1);
  {
    OpenJournal journal(sound);
    ASSERT_TRUE(journal.AppendDurably(std::string(8 * kBlockBytes - 400, 'x')));
  }
  const Bytes data = sound.Read(DataFileName(0)).value();
  ASSERT_EQ(data.size(), 9 * kBlockBytes);
  for (std::size_t block = 1; block < 9; ++block) {
    for (const bool lost : {false, true}) {
      MemoryDisk disk = sound;
      Bytes bad = data;
      const auto at = bad.begin() + static_cast<std::ptrdiff_t>(block * kBlockBytes);
      if (lost) {
        std::fill(at, at + 512, std::byte{0});
      } else {
        at[100] ^= std::byte{1};
      }
      disk.Put(DataFileName(0), bad);
      EXPECT_FALSE(OpenAndCompare(disk)) << block;
    }
  }
}

TEST(Damage, EveryFlippedByteOfAPublishedRecordIsRefused) {
  const MemoryDisk sound = DiskWith(1);
  const Bytes data = sound.Read(DataFileName(0)).value();
  const std::size_t end = record_at::kPayload + kPrepareBytesMin + std::string("record 1").size();
  for (std::size_t at = 0; at < end; ++at) {
    MemoryDisk disk = sound;
    Bytes bad = data;
    bad[at] ^= std::byte{0x10};
    disk.Put(DataFileName(0), bad);
    EXPECT_NE(Refusal(disk), "") << at;
  }
}

TEST(Damage, RandomSlotsAreNeverTakenForState) {
  Rng rng(4);
  for (int round = 0; round < 500; ++round) {
    MemoryDisk disk = DiskWith(2);
    Bytes frontier = disk.Read("frontier").value();
    // A few bytes in each slot's content change.
    for (int i = 0; i < 4; ++i) {
      frontier[rng.Below(slot_at::kEnd)] ^= static_cast<std::byte>(1 + rng.Below(255));
      frontier[kBlockBytes + rng.Below(slot_at::kEnd)] ^=
          static_cast<std::byte>(1 + rng.Below(255));
    }
    disk.Put("frontier", frontier);
    EXPECT_FALSE(OpenAndCompare(disk));
  }
}

}  // namespace
}  // namespace tornfs::journal
