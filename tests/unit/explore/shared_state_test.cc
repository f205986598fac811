#include "harness/explore/shared_state.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tornfs::harness {
namespace {

TEST(SharedState, KnowsWhatWasMarkedAndNothingElse) {
  const auto shared = SharedState::Create();
  for (std::uint64_t i = 0; i < 10000; i += 2) shared->MarkGood(Hash128("key", i));
  for (std::uint64_t i = 0; i < 10000; ++i) {
    EXPECT_EQ(shared->IsGood(Hash128("key", i)), i % 2 == 0);
  }
  EXPECT_EQ(shared->good(), 5000U);
  EXPECT_FALSE(shared->MarkGood(Hash128("key", 0)));
  EXPECT_TRUE(shared->MarkGood(Hash128("another key")));
  EXPECT_EQ(shared->good(), 5001U);
}

TEST(SharedState, ZeroIsAKeyLikeAnyOther) {
  const auto shared = SharedState::Create();
  EXPECT_FALSE(shared->IsGood(Digest{}));
  shared->MarkGood(Digest{});
  EXPECT_TRUE(shared->IsGood(Digest{}));
}

TEST(SharedState, OneOfTwoProcessesMarksAKey) {
  constexpr std::uint64_t kKeys = 20000;
  const auto shared = SharedState::Create();
  const auto mark_all = [&] {
    std::uint64_t first = 0;
    for (std::uint64_t i = 0; i < kKeys; ++i) first += shared->MarkGood(Hash128("key", i)) ? 1 : 0;
    shared->counters().tried += first;
  };
  const pid_t child = ::fork();
  mark_all();
  if (child == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_EQ(shared->counters().tried, kKeys);
  EXPECT_EQ(shared->good(), kKeys);
}

TEST(SharedState, IsSharedByProcesses) {
  const auto shared = SharedState::Create();
  const pid_t child = ::fork();
  if (child == 0) {
    shared->MarkGood(Hash128("from the child"));
    (void)shared->TakeUnit();
    shared->Stop();
    ::_exit(0);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(shared->IsGood(Hash128("from the child")));
  EXPECT_EQ(shared->TakeUnit(), 1U);
  EXPECT_TRUE(shared->stopped());
}

}  // namespace
}  // namespace tornfs::harness
