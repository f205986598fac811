#include "harness/explore/outcome.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace tornfs::harness {
namespace {

ExploreOutcome ShardWith(std::uint64_t index, std::uint64_t count) {
  ExploreOutcome outcome;
  outcome.shard = {index, count};
  outcome.units = 3;
  outcome.states = 10;
  outcome.legal = 1'000;
  return outcome;
}

void AddKindTo(ExploreOutcome& outcome, const std::string& signature, std::uint64_t unit,
               const std::string& id, std::uint64_t order = 1) {
  auto& kind = outcome.findings[signature];
  kind.finding.id = id;
  kind.finding.signature = signature;
  kind.unit = unit;
  kind.order = order;
  kind.states = 5;
  kind.failing[unit] = {"t1-0123456789abcdef/p1.0.-"};
}

TEST(Outcome, SurvivesItsJson) {
  ExploreOutcome outcome = ShardWith(1, 3);
  AddKindTo(outcome, "check:1:lost", 4, "f-1");
  outcome.more_kinds["check:1:other"] = 7;
  outcome.error = Error{ErrorCode::kIo, 0, "gone"};
  const auto json = OutcomeToJson(outcome);
  const auto back = OutcomeFromJson(json);
  ASSERT_TRUE(back);
  EXPECT_EQ(OutcomeToJson(*back), json);
  EXPECT_FALSE(OutcomeFromJson({{"shard", 1}}));
  EXPECT_FALSE(OutcomeFromJson("text"));
}

TEST(Outcome, MergingTakesTheLowestUnit) {
  ExploreOutcome first = ShardWith(0, 2);
  ExploreOutcome second = ShardWith(1, 2);
  AddKindTo(first, "check:1:lost", 4, "f-late");
  AddKindTo(second, "check:1:lost", 1, "f-early");
  AddKindTo(second, "check:1:other", 3, "f-other");
  const auto whole = Merge({first, second});
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->findings.size(), 2U);
  EXPECT_EQ(whole->findings.at("check:1:lost").finding.id, "f-early");
  EXPECT_EQ(whole->findings.at("check:1:lost").states, 10U);
  EXPECT_EQ(whole->findings.at("check:1:lost").failing.size(), 2U);
  EXPECT_EQ(whole->states, 20U);
  EXPECT_EQ(whole->legal.ToString(), "2000");
  EXPECT_EQ(whole->shard.count, 1U);
}

TEST(Outcome, KindsBeyondTheLimitAreCountedOnce) {
  ExploreOutcome first = ShardWith(0, 2);
  ExploreOutcome second = ShardWith(1, 2);
  for (std::size_t i = 0; i < kMaxKinds; ++i) {
    AddKindTo(first, "kind " + std::to_string(i), 10, "f-" + std::to_string(i), i + 1);
  }
  AddKindTo(second, "new", 1, "f-new");
  second.more_kinds["kind 0"] = 2;
  second.more_kinds["nowhere"] = 3;
  const auto whole = Merge({first, second});
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->findings.size(), kMaxKinds);
  EXPECT_EQ(whole->findings.at("kind 0").states, 7U);
  EXPECT_TRUE(whole->findings.contains("new"));
  const auto last = "kind " + std::to_string(kMaxKinds - 1);
  EXPECT_EQ(whole->more_kinds, (std::map<std::string, std::uint64_t>{{last, 5}, {"nowhere", 3}}));
}

TEST(Outcome, OnlyAWholeSetMerges) {
  EXPECT_FALSE(Merge({ShardWith(0, 2)}));
  EXPECT_FALSE(Merge({ShardWith(0, 2), ShardWith(0, 2)}));
  EXPECT_FALSE(Merge({ShardWith(0, 2), ShardWith(1, 3)}));
  ExploreOutcome other = ShardWith(1, 2);
  other.strategy = Strategy::kSystematic;
  EXPECT_FALSE(Merge({ShardWith(0, 2), other}));
  EXPECT_TRUE(Merge({ShardWith(1, 2), ShardWith(0, 2)}));
}

TEST(Shard, EveryUnitIsInOne) {
  for (std::uint64_t unit = 0; unit < 20; ++unit) {
    int in = 0;
    for (std::uint64_t index = 0; index < 3; ++index) in += Shard{index, 3}.Has(unit) ? 1 : 0;
    EXPECT_EQ(in, 1);
  }
}

}  // namespace
}  // namespace tornfs::harness
