#include "harness/cpu.h"

#include <gtest/gtest.h>

#include <thread>

namespace tornfs::harness {
namespace {

TEST(Cpu, PinningLeavesOneCore) {
  const std::vector<int> cores = AvailableCores();
  ASSERT_FALSE(cores.empty());
  std::thread([&] {
    ASSERT_TRUE(PinToCore(cores.back()));
    EXPECT_EQ(AvailableCores(), std::vector<int>{cores.back()});
  }).join();
  EXPECT_EQ(AvailableCores(), cores);
}

TEST(Cpu, AnImpossibleCoreIsAnError) {
  EXPECT_FALSE(PinToCore(-1));
  EXPECT_FALSE(PinToCore(1 << 20));
}

}  // namespace
}  // namespace tornfs::harness
