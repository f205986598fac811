// The engine lets go of what nothing can lead to any more, and only of that.
#include "unit/core/engine_fixture.h"

namespace tornfs {
namespace {

class EngineMemoryTest : public EngineFixture {
 protected:
  void Bound(std::uint64_t limit) {
    store_ = ContentStore::Open({.directory = "", .memory_limit = limit}).value();
    UseModel("posix");
    engine_->BoundMemory();
  }
  void Rmdir(const std::string& path) {
    ASSERT_TRUE(engine_->RemoveDirectory(me_, DirOf(path), NameOf(path)));
  }
};

TEST_F(EngineMemoryTest, NamesGoWithTheirDirectory) {
  const std::size_t inodes = engine_->durable().inodes();
  for (int i = 0; i < 100; ++i) {
    Mkdir("d");
    Create("d/a");
    Write("d/a", "content");
    Rename("d/a", "d/b");
    Unlink("d/b");
    Rmdir("d");
    FsyncDir("");
  }
  EXPECT_TRUE(engine_->pending().empty());
  EXPECT_EQ(engine_->durable().inodes(), inodes);
  EXPECT_EQ(engine_->current().inodes(), inodes);
}

TEST_F(EngineMemoryTest, DurableNamesGoWithTheirDirectory) {
  Mkdir("d");
  Mkdir("d/e");
  Create("d/e/a");
  Sync();
  Unlink("d/e/a");
  Rmdir("d/e");
  Rmdir("d");
  FsyncDir("");
  EXPECT_TRUE(engine_->pending().empty());
  EXPECT_EQ(engine_->durable().inodes(), 1U);
}

TEST_F(EngineMemoryTest, AFileThatWasMovedOutStaysBound) {
  Mkdir("d");
  Create("d/a");
  Write("d/a", "x");
  Sync();
  Rename("d/a", "b");
  Rmdir("d");
  const Trees before = Outcomes();
  FsyncDir("");
  // The rename is whole: with the removal of d it is durable.
  EXPECT_EQ(Outcomes(), (Trees{{"b=x"}}));
  EXPECT_TRUE(before.contains({"d/", "d/a=x"}));
}

TEST_F(EngineMemoryTest, ALinkElsewhereKeepsTheInode) {
  Mkdir("d");
  Create("d/a");
  Write("d/a", "x");
  Sync();
  Link("d/a", "b");
  Fsync("b");
  Unlink("d/a");
  Rmdir("d");
  FsyncDir("");
  EXPECT_EQ(Outcomes(), (Trees{{"b=x"}}));
}

TEST_F(EngineMemoryTest, OverwrittenContentIsLetGo) {
  Bound(256ULL << 20);
  Create("a");
  Sync();
  const std::string block(1U << 20, 'x');
  for (int i = 0; i < 200; ++i) {
    Write("a", block + "y", static_cast<std::uint64_t>(i % 4) << 20);
    Fsync("a");
  }
  EXPECT_LE(store_->size(), 160ULL << 20);
  EXPECT_EQ(Show(engine_->current()), (std::set<std::string>{"a=x*4194304 y"}));
}

TEST_F(EngineMemoryTest, AFullStoreHasRoomAgainAfterAnUnlink) {
  Bound(100ULL << 20);
  Create("a");
  Create("b");
  Sync();
  const std::string block(1U << 20, 'x');
  const auto bytes = std::as_bytes(std::span(block));
  std::uint64_t written = 0;
  while (engine_->Write(me_, At("a"), written << 20, bytes)) ++written;
  EXPECT_GE(written, 99U);
  EXPECT_EQ(engine_->Write(me_, At("b"), 0, bytes).error(), Errno{ENOSPC});
  Unlink("a");
  // The name may still come back by a power loss, and the content with it.
  Fsync("b");
  FsyncDir("");
  EXPECT_TRUE(engine_->Write(me_, At("b"), 0, bytes));
}

TEST_F(EngineMemoryTest, TheOldestEffectsAreWrittenBack) {
  Bound(1ULL << 20);  // Room for 4,096 effects, the least there is.
  Create("a");
  for (std::uint64_t i = 0; i < 10'000; ++i) Write("a", "x", i);
  EXPECT_LE(engine_->pending().size(), 4097U);
  EXPECT_GT(engine_->written_back(), 5'000U);
  // The newest ones can still be lost.
  const Window window = engine_->CrashWindow(Tear::kPage);
  EXPECT_LT(window.State(window.None()).Find(At("a"))->size, 10'000U);
  EXPECT_EQ(window.State(window.All()).Find(At("a"))->size, 10'000U);
}

TEST_F(EngineMemoryTest, AFailedBarrierForgetsDataOrReverts) {
  Create("a");
  Write("a", "old");
  Sync();
  Write("a", "new");
  EXPECT_FALSE(engine_->FailBarrier(At("a"), Aftermath::kKeep));
  EXPECT_EQ(Outcomes(), (Trees{{"a=o l d"}, {"a=n e w"}}));
  EXPECT_FALSE(engine_->FailBarrier(At("a"), Aftermath::kForget));
  EXPECT_EQ(Show(engine_->current()), (std::set<std::string>{"a=n e w"}));
  Fsync("a");
  EXPECT_EQ(Outcomes(), (Trees{{"a=o l d"}}));
  Write("a", "NEWER");
  EXPECT_TRUE(engine_->FailBarrier(At("a"), Aftermath::kRevert));
  EXPECT_EQ(Show(engine_->current()), (std::set<std::string>{"a=o l d"}));
  EXPECT_EQ(Outcomes(), (Trees{{"a=o l d"}}));
}

}  // namespace
}  // namespace tornfs
