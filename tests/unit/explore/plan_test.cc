#include "harness/explore/plan.h"

#include <gtest/gtest.h>

namespace tornfs::harness {
namespace {

TEST(Plan, SurvivesItsText) {
  Plan plan;
  plan.history = "0123456789abcdef";
  plan.steps.push_back({Step::Kind::kKill, {12, 3}, ""});
  plan.steps.push_back({Step::Kind::kPower, {15, 0}, "9:2,4-5;7@100"});
  const std::string text = FormatPlan(plan);
  EXPECT_EQ(text, "t1-0123456789abcdef/k12.3/p15.0.9:2,4-5;7@100");
  EXPECT_EQ(ParsePlan(text).value(), plan);
}

TEST(Plan, NonsenseIsRefused) {
  for (const char* text : {"", "t1-", "t1-0123456789abcdef", "t2-0123456789abcdef/k1.0",
                           "t1-0123/k1.0", "t1-0123456789abcdef/x1.0", "t1-0123456789abcdef/k1",
                           "t1-0123456789abcdef/k1.0.2:", "t1-0123456789abcdef/p1.0",
                           "t1-0123456789abcdef/p1.0.", "t1-0123456789abcdef//",
                           "t1-0123456789abcdef/k99999999999.0", "t1-0123456789abcdef/k1.0/"}) {
    EXPECT_FALSE(ParsePlan(text)) << text;
  }
}

}  // namespace
}  // namespace tornfs::harness
