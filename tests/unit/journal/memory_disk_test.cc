// The disk that the other tests trust: what it keeps, what it may lose, and how it fails.
#include "memory_disk.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace tornfs::journal {
namespace {

using Bytes = MemoryDisk::Bytes;

const Bytes kOld(100, std::byte{1});
const Bytes kNew(100, std::byte{2});

TEST(MemoryDisk,
     process_crash_preserves_completed_writes_but_power_loss_requires_file_and_directory_sync) {
  bool name_lost = false;
  bool bytes_lost = false;
  for (std::uint64_t seed = 0; seed < 32; ++seed) {
    MemoryDisk disk;
    disk.Put("synced", kOld);
    const auto storage = disk.Attach();
    const auto file = storage->Open("synced", OpenMode::kReadWrite);
    const auto named = storage->Open("new", OpenMode::kCreate);
    ASSERT_TRUE((*file)->WriteAt(0, kNew) && (*named)->WriteAt(0, kNew) && (*named)->Sync());
    disk.Kill();
    EXPECT_FALSE((*file)->WriteAt(0, kOld));  // The handle died with its process.
    EXPECT_FALSE(storage->Open("new", OpenMode::kRead));
    EXPECT_EQ(disk.Read("synced"), kNew);
    EXPECT_EQ(disk.Read("new"), kNew);
    Rng rng(seed);
    disk.PowerLoss(rng, Tear::kNone);
    name_lost |= !disk.Read("new");
    bytes_lost |= disk.Read("synced") == kOld;
    // Never a mixture: the file was synced, so where the name is, the bytes are.
    EXPECT_EQ(disk.Read("new").value_or(kNew), kNew);
  }
  EXPECT_TRUE(name_lost && bytes_lost);
}

TEST(MemoryDisk, BothSyncsTogetherKeepAFile) {
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    MemoryDisk disk;
    const auto storage = disk.Attach();
    const auto file = storage->Open("new", OpenMode::kCreate);
    ASSERT_TRUE((*file)->WriteAt(0, kNew) && (*file)->Sync() && storage->SyncDirectory());
    Rng rng(seed);
    disk.PowerLoss(rng, Tear::kByte);
    EXPECT_EQ(disk.Read("new"), kNew);
  }
}

TEST(MemoryDisk, AFaultIsTransientAndHasItsError) {
  MemoryDisk disk;
  const auto storage = disk.Attach();
  const auto file = storage->Open("file", OpenMode::kCreate);
  disk.fail_call = disk.calls();
  disk.fail_errno = ENOSPC;
  disk.fail_half_way = true;
  const Status failed = (*file)->WriteAt(0, kNew);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().sys_errno, ENOSPC);
  EXPECT_EQ(disk.Read("file")->size(), kNew.size() / 2);
  EXPECT_TRUE((*file)->WriteAt(0, kNew));
}

}  // namespace
}  // namespace tornfs::journal
