// Bad input: whatever the files hold, opening ends with a clear refusal or a sound journal, and a
// refusal changes nothing.
#include <gtest/gtest.h>

#include <algorithm>

#include "fixture.h"

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
