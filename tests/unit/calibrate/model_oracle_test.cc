#include "harness/calibrate/model_oracle.h"

#include <gtest/gtest.h>

#include <string>

namespace tornfs::harness {
namespace {

AllowedSet Allowed(const char* model, const std::string& litmus) {
  const auto program = ParseLitmusSteps(litmus, "x");
  EXPECT_TRUE(program);
  auto allowed = AllowedBy(**FindModel(model), *program);
  EXPECT_TRUE(allowed);
  return std::move(*allowed);
}

constexpr const char* kSynced = "run\n  create f\n  write f n*10\n  fsync f\n";

TEST(ModelOracle, EachCutHasItsOwnStates) {
  const AllowedSet allowed = Allowed("strict", kSynced);
  ASSERT_TRUE(allowed.known);
  EXPECT_TRUE(MayLeave(allowed, "{}", 0, 0));
  EXPECT_TRUE(MayLeave(allowed, "{f=F[]}", 1, 1));
  EXPECT_TRUE(MayLeave(allowed, "{f=F[n*10]}", 2, 3));
  EXPECT_FALSE(MayLeave(allowed, "{f=F[n*10]}", 0, 0));
  EXPECT_FALSE(MayLeave(allowed, "{}", 3, 3));
  EXPECT_FALSE(MayLeave(allowed, "{f=F[]}", 3, 3));
}

TEST(ModelOracle, StaleBytesArePatterns) {
  const AllowedSet allowed = Allowed("posix-minimal", "run\n  create f\n  write f n*10\n");
  EXPECT_TRUE(MayLeave(allowed, "{f=F[z*10]}", 2, 2));
  EXPECT_FALSE(MayLeave(allowed, "{f=F[z*11]}", 2, 2));
}

TEST(ModelOracle, WhatIsTooMuchToListIsNotKnown) {
  std::string program = "run\n";
  for (int i = 0; i < 40; ++i) program += "  create f" + std::to_string(i) + "\n";
  EXPECT_FALSE(Allowed("posix", program).known);
}

TEST(ModelOracle, TheRuleThatAllowsAnOutcomeIsNamed) {
  const auto program = ParseLitmusSteps("run\n  write f n*10000\n", "x");
  AllowedSet allowed = Allowed("ext4", "run\n  write f n*10000\n");
  const std::size_t zeros = FindAllowed(allowed, "{f=F[0*10000]}");
  ASSERT_NE(zeros, SIZE_MAX);
  std::vector<bool> wanted(allowed.trees.size(), false);
  wanted[zeros] = true;
  NameRules(**FindModel("ext4"), *program, wanted, allowed);
  EXPECT_NE(allowed.trees[zeros].rule.find("size-after [measured]"), std::string::npos)
      << allowed.trees[zeros].rule;
}

}  // namespace
}  // namespace tornfs::harness
