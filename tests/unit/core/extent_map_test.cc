#include "fusefs/core/extent_map.h"

#include <gtest/gtest.h>

#include <vector>

#include "common/rng.h"

namespace tornfs {
namespace {

class ExtentMapTest : public ::testing::Test {
 protected:
  std::unique_ptr<ContentStore> store_ = ContentStore::Open({}).value();
};

// The oracle is a plain array of bytes and of "written" flags.
TEST_F(ExtentMapTest, BehavesAsAnArrayOfBytes) {
  constexpr std::uint64_t kSize = 5000;
  Rng rng(2);
  ExtentMap map;
  std::vector<std::byte> bytes(kSize);
  std::vector<bool> written(kSize);
  for (int step = 0; step < 4000; ++step) {
    const std::uint64_t offset = rng.Below(kSize);
    const std::uint64_t length = 1 + rng.Below(std::min<std::uint64_t>(300, kSize - offset));
    const bool hole = rng.Below(4) == 0;
    if (hole) {
      map.Write(offset, length, kZeros);
    } else {
      std::vector<std::byte> data(length);
      for (auto& b : data) b = static_cast<std::byte>(1 + rng.Below(255));
      map.Write(offset, length, store_->Append(data).value());
      std::copy(data.begin(), data.end(), bytes.begin() + static_cast<std::ptrdiff_t>(offset));
    }
    for (std::uint64_t i = offset; i < offset + length; ++i) {
      written[i] = !hole;
      if (hole) bytes[i] = std::byte{0};
    }
    if (step % 50 != 0) continue;
    std::vector<std::byte> read(kSize, std::byte{99});
    map.Read(*store_, 0, read);
    ASSERT_EQ(read, bytes);
    ASSERT_EQ(map.allocated(),
              static_cast<std::uint64_t>(std::count(written.begin(), written.end(), true)));
    const std::uint64_t at = rng.Below(kSize);
    std::uint64_t data = at;
    while (data < kSize && !written[data]) ++data;
    ASSERT_EQ(map.NextData(at), data == kSize ? UINT64_MAX : data);
    std::uint64_t gap = at;
    while (gap < kSize && written[gap]) ++gap;
    ASSERT_EQ(map.NextHole(at), gap);
  }
}

TEST_F(ExtentMapTest, AppendsJoin) {
  ExtentMap map;
  const std::vector<std::byte> block(4096, std::byte{1});
  for (std::uint64_t i = 0; i < 100; ++i) map.Write(i * 4096, 4096, store_->Append(block).value());
  std::vector<iovec> pieces;
  map.Gather(*store_, 0, 100 * 4096, pieces);
  EXPECT_EQ(pieces.size(), 1U);
}

TEST_F(ExtentMapTest, TheStoreRefusesBeyondItsLimit) {
  auto small = ContentStore::Open({.directory = "", .memory_limit = 8192}).value();
  const std::vector<std::byte> block(4096, std::byte{1});
  EXPECT_TRUE(small->Append(block));
  EXPECT_TRUE(small->Append(block));
  EXPECT_EQ(small->Append(block).error(), static_cast<Errno>(ENOSPC));
}

TEST_F(ExtentMapTest, AStoreOnDiskKeepsBytes) {
  auto disk = ContentStore::Open({.directory = ::testing::TempDir(), .memory_limit = 1}).value();
  const std::vector<std::byte> block(1 << 20, std::byte{7});
  std::vector<ContentPosition> positions;
  for (int i = 0; i < 130; ++i) positions.push_back(disk->Append(block).value());
  for (const ContentPosition position : positions) {
    ASSERT_TRUE(std::equal(block.begin(), block.end(), disk->At(position)));
  }
}

}  // namespace
}  // namespace tornfs
