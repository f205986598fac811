#include "harness/explore/fence_search.h"
#include "unit/core/engine_fixture.h"

namespace tornfs::harness {
namespace {

class FenceTest : public EngineFixture {
 protected:
  // Plans for the states at the end, all lines printed, whose tree shows what `is_bad` says yes to.
  template <class IsBad>
  void Finish(IsBad&& is_bad) {
    campaign_.model = *FindModel("posix");
    SetStore();
    const Recording& workload = *campaign_.workload;
    const CrashPoint end{workload.end(), workload.promises.size()};
    const Window window(workload.BaseAt(end.cut), *campaign_.model, Tear::kPage, *campaign_.store);
    for (const Choice& choice : window.Enumerate(1 << 12)) {
      if (!is_bad(ShowIn(window.State(choice)))) continue;
      failing_.push_back({campaign_.history, {{Step::Kind::kPower, end, window.Token(choice)}}});
    }
    ASSERT_FALSE(failing_.empty());
  }
  std::set<std::string> ShowIn(const Tree& tree) {
    store_.swap(campaign_.store);
    auto shown = Show(tree);
    store_.swap(campaign_.store);
    return shown;
  }
  void SetStore() {
    auto recording = engine_->TakeRecording();
    campaign_.store = std::move(store_);
    store_ = nullptr;
    campaign_.spec.check = "true";
    campaign_.check = {"true"};
    SetWorkload(campaign_, std::move(recording));
  }
  std::string Fix() {
    const auto fence = SuggestFence(campaign_, failing_.back(), failing_);
    return fence ? fence->Text() : "none";
  }
  void TearDown() override {
    engine_.reset();  // It refers to the store.
  }

  Campaign campaign_;
  std::vector<Plan> failing_;
};

bool Missing(const std::set<std::string>& shown, const std::string& what) {
  return !shown.contains(what);
}

TEST_F(FenceTest, AFileRenamedWithoutASync) {
  Create("config");
  Write("config", "old");
  Begin();
  Create("tmp");
  Write("tmp", "new");
  Rename("tmp", "config");
  Finish([](const auto& shown) {
    return Missing(shown, "config=o l d") && Missing(shown, "config=n e w");
  });
  EXPECT_EQ(Fix(), "fdatasync `tmp` after op 2 (write)");
}

TEST_F(FenceTest, ARunOfWritesIsSyncedAtItsEnd) {
  Begin();
  Create("tmp");
  Write("tmp", "ab");
  Append("tmp", "cd");
  Rename("tmp", "config");
  Finish([](const auto& shown) {
    return Missing(shown, "config=a b c d") && shown.contains("config=");
  });
  EXPECT_EQ(Fix(), "fdatasync `tmp` after op 3 (write)");
}

TEST_F(FenceTest, ANameThatWasPromised) {
  Mkdir("d");
  Begin();
  Create("d/log");
  engine_->AddPromise("made");
  Finish([](const auto& shown) { return Missing(shown, "d/log="); });
  EXPECT_EQ(Fix(), "fsync the directory `d` after op 1 (create)");
}

TEST_F(FenceTest, WhatOneBarrierCannotDo) {
  Begin();
  Create("a");
  Create("b");
  Write("a", "1");
  Write("b", "2");
  engine_->AddPromise("both");
  Finish([](const auto& shown) { return Missing(shown, "a=1") || Missing(shown, "b=2"); });
  EXPECT_EQ(Fix(), "none");
}

TEST_F(FenceTest, AddedBarriersMoveWhatIsBehindThem) {
  Begin();
  Create("a");
  Write("a", "1");
  engine_->AddPromise("one");
  Write("a", "2");
  const Ino a = At("a");
  Finish([](const auto&) { return true; });
  const Recording& before = *campaign_.workload;
  const auto after =
      WithBarriers(before, {{2, OpKind::kFsync, a, "a"}}, *campaign_.model, *campaign_.store);
  ASSERT_EQ(after->ops.size(), before.ops.size() + 1);
  EXPECT_EQ(after->ops[2].kind, OpKind::kFsync);
  EXPECT_EQ(after->ops[3].number, 4U);
  EXPECT_EQ(after->promises[0].cut, 4U);
  const Base base = after->BaseAt(after->end());
  EXPECT_EQ(base.pending.size(), before.BaseAt(before.end()).pending.size() - 2);
}

}  // namespace
}  // namespace tornfs::harness
