// How many names an inode may have, and what link count programs see.
#include <gtest/gtest.h>

#include "engine_fixture.h"

namespace tornfs {
namespace {

using LinksTest = EngineFixture;

TEST_F(LinksTest, AFileHasAtMostSoMany) {
  Create("a");
  for (std::uint32_t i = 1; i < kMaxLinks; ++i) Link("a", std::to_string(i));
  EXPECT_EQ(engine_->Stat(At("a"))->st_nlink, kMaxLinks);
  const auto more = engine_->Link(me_, At("a"), kRootIno, "more");
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error(), Errno{EMLINK});
}

TEST_F(LinksTest, ADirectoryWithMoreSubdirectoriesShowsOne) {
  Mkdir("d");
  const Ino dir = At("d");
  for (std::uint32_t i = 2; i < kMaxLinks; ++i) {
    ASSERT_TRUE(engine_->MakeDirectory(me_, dir, std::to_string(i), 0755));
  }
  EXPECT_EQ(engine_->Stat(dir)->st_nlink, kMaxLinks);
  Mkdir("d/more");
  EXPECT_EQ(engine_->Stat(dir)->st_nlink, 1U);
  Mkdir("e");
  Rename("e", "d/e");
  EXPECT_EQ(engine_->Stat(dir)->st_nlink, 1U);
  EXPECT_EQ(engine_->Stat(kRootIno)->st_nlink, 3U);
}

}  // namespace
}  // namespace tornfs
