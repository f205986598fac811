// The content store: what is swept, what is moved to disk, and that bytes stay what they were.
#include "fusefs/core/content_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "common/memory.h"

namespace tornfs {
namespace {

constexpr std::uint64_t kMiB = 1ULL << 20;

class ContentStoreTest : public ::testing::Test {
 protected:
  static std::vector<std::byte> Block(int number) {
    std::vector<std::byte> block(kMiB, static_cast<std::byte>(number & 0xff));
    block.back() = static_cast<std::byte>(number >> 8);
    return block;
  }
  void Fill(ContentStore& store, int blocks) {
    for (int i = 0; i < blocks; ++i) positions_.push_back(store.Append(Block(i)).value());
  }
  void ExpectIntact(const ContentStore& store, std::size_t number) {
    const auto block = Block(static_cast<int>(number));
    EXPECT_TRUE(std::equal(block.begin(), block.end(), store.At(positions_[number]))) << number;
  }

  std::vector<ContentPosition> positions_;
};

TEST_F(ContentStoreTest, WhatIsNotMarkedIsGivenBack) {
  const auto store = ContentStore::Open({}).value();
  Fill(*store, 200);  // More than three chunks of 64 MiB.
  EXPECT_TRUE(store->sweep_due());
  ContentStore::Marks marks;
  marks.Mark(positions_[70], kMiB);
  marks.Mark(positions_[3], 1);
  marks.Mark(kZeros, kMiB);
  store->Sweep(marks);
  EXPECT_FALSE(store->sweep_due());
  // One page, one block, and the chunk in use, which is left alone.
  EXPECT_LE(store->size(), 12 * kMiB);
  ExpectIntact(*store, 70);
  ExpectIntact(*store, 199);
  EXPECT_EQ(*store->At(positions_[3]), Block(3)[0]);
}

TEST_F(ContentStoreTest, MemoryOfSweptChunksIsUsedAgain) {
  const auto store = ContentStore::Open({.directory = "", .memory_limit = 256 * kMiB}).value();
  for (int round = 0; round < 4; ++round) {
    positions_.clear();
    Fill(*store, 100);
    ExpectIntact(*store, 50);
    store->Sweep({});
  }
  EXPECT_LE(store->size(), 64 * kMiB);
}

TEST_F(ContentStoreTest, AHoldKeepsEverything) {
  const auto store = ContentStore::Open({}).value();
  Fill(*store, 130);
  const std::uint64_t before = store->size();
  {
    const ContentStore::Hold hold(*store);
    EXPECT_FALSE(store->sweep_due());
    store->Sweep({});
    EXPECT_EQ(store->size(), before);
    ExpectIntact(*store, 0);
  }
  store->Sweep({});
  EXPECT_LT(store->size(), before);
}

TEST_F(ContentStoreTest, BeyondTheLimitChunksMoveToDiskAndStayReadable) {
  constexpr std::uint64_t kLimit = 96 * kMiB;
  const auto store =
      ContentStore::Open({.directory = ::testing::TempDir(), .memory_limit = kLimit}).value();
  const std::uint64_t first = ResidentBytes();
  Fill(*store, 260);
  EXPECT_GT(store->moved(), 100 * kMiB);
  EXPECT_FALSE(store->tight());
  for (std::size_t i = 0; i < positions_.size(); ++i) {
    store->NoteUse(kMiB);
    ExpectIntact(*store, i);
  }
  EXPECT_LE(ResidentBytes(), first + kLimit + 64 * kMiB);
}

TEST_F(ContentStoreTest, ChunksOnDiskAreSweptToo) {
  const auto store =
      ContentStore::Open({.directory = ::testing::TempDir(), .memory_limit = kMiB}).value();
  Fill(*store, 130);
  ASSERT_GT(store->moved(), 0U);
  ContentStore::Marks marks;
  marks.Mark(positions_[5], kMiB);
  store->Sweep(marks);
  EXPECT_LE(store->moved(), 66 * kMiB);
  ExpectIntact(*store, 5);
  Fill(*store, 10);
  ExpectIntact(*store, 5);
}

TEST_F(ContentStoreTest, WithoutADirectoryTheLimitCountsWhatIsHeld) {
  const auto store = ContentStore::Open({.directory = "", .memory_limit = 100 * kMiB}).value();
  Fill(*store, 100);
  EXPECT_EQ(store->Append(Block(0)).error(), Errno{ENOSPC});
  store->Sweep({});
  EXPECT_TRUE(store->Append(Block(0)));
}

}  // namespace
}  // namespace tornfs
