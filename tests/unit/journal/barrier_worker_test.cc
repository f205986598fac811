// Two barriers at once.
#include "journal/barrier_worker.h"

#include <gtest/gtest.h>

#include <latch>

namespace tornfs::journal {
namespace {

// Each waits for the other: one after the other they would never end.
TEST(BarrierWorker, BothRunAtTheSameTime) {
  BarrierWorker worker;
  for (int round = 0; round < 100; ++round) {
    std::latch both(2);
    const auto meet = [&both]() -> Status {
      both.arrive_and_wait();
      return {};
    };
    EXPECT_TRUE(worker.RunBoth(meet, meet));
  }
}

TEST(BarrierWorker, EitherFailureIsTheFailure) {
  BarrierWorker worker;
  const auto fails = [] { return Status(IoFailure(5, "barrier")); };
  const auto works = [] { return Status(); };
  EXPECT_FALSE(worker.RunBoth(fails, works));
  EXPECT_FALSE(worker.RunBoth(works, fails));
  EXPECT_TRUE(worker.RunBoth(works, works));
}

}  // namespace
}  // namespace tornfs::journal
