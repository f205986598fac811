#include "harness/on/plan.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "unit/on/small_campaign.h"

namespace tornfs::harness {
namespace {

// Far from the first block, which is never torn.
constexpr std::uint64_t kFar = 64 << 10;

OnPlan Parsed(const std::string& text) {
  auto plan = ParseOnPlan(text);
  EXPECT_TRUE(plan) << text;
  return plan.value_or(OnPlan());
}

TEST(OnPlan, IsTheSameAfterItWasText) {
  for (const char* text : {
           "d1-0123456789abcdef/S.-.-.0",
           "d1-0123456789abcdef/F.120.431.3:121-124,130@0-3+7,131",
           "d1-0123456789abcdef/D.0.5.12:1@2",
       }) {
    EXPECT_EQ(FormatOnPlan(Parsed(text)), text);
  }
  const OnPlan plan = Parsed("d1-0123456789abcdef/F.120.431.3:121-122,130@0-1+3");
  EXPECT_EQ(plan.schedule, Schedule::kFsync);
  EXPECT_EQ(plan.promises, 3U);
  EXPECT_EQ(plan.image.flush, 120U);
  EXPECT_EQ(plan.image.until, 431U);
  EXPECT_TRUE(plan.image.torn);
  ASSERT_EQ(plan.image.writes.size(), 3U);
  EXPECT_EQ(plan.image.writes[1].event, 122U);
  EXPECT_EQ(plan.image.writes[2].sectors, (std::vector<bool>{true, true, false, true}));
}

TEST(OnPlan, WhatIsNoPlanIsRefused) {
  for (const char* text : {
           "",
           "t1-0123456789abcdef/p1.0.",
           "d1-0123456789abcdef",
           "d1-0123456789abcdef/I.-.-.0",
           "d1-0123456789abcdef/S.-.-.",
           "d1-0123456789abcdef/S.-.-.0:",
           "d1-0123456789abcdef/S.-.-.0:3-2",
           "d1-0123456789abcdef/S.-.-.0:3,3",
           "d1-0123456789abcdef/S.-.-.0:0-99999999999",
           "d1-0123456789abcdef/S.-.-.0:3@99999999",
           "d1-0123456789abcdef/S.-.-.0:3@0-",
           "d1-0123456789abcdef/S.-.-.0 ",
       }) {
    EXPECT_FALSE(ParseOnPlan(text)) << text;
  }
}

TEST(OnPlan, FitsItsRecordingOnly) {
  SmallRecording recording;
  recording.Write(kFar, 1024, 'a').Flush().Promise("one");
  const OnCampaign campaign = SmallCampaign(recording);
  const std::string name = "d1-" + campaign.history;
  EXPECT_TRUE(RecordingOf(campaign, Parsed(name + "/F.1.-.1:0")));
  for (const std::string& text : {
           std::string("d1-0123456789abcdef/F.1.-.1"),
           name + "/S.1.-.1",      // Not recorded.
           name + "/F.0.-.1",      // Not a flush.
           name + "/F.7.-.1",      // Nothing at all.
           name + "/F.1.-.2",      // More than was promised.
           name + "/F.-.-.1:1",    // Not a write.
           name + "/F.-.-.1:0@2",  // It has two sectors.
       }) {
    EXPECT_FALSE(RecordingOf(campaign, Parsed(text))) << text;
  }
}

TEST(PlanCrashes, EachPromiseHasItsOwn) {
  SmallRecording recording;
  recording.Write(kFar, 512, 'a').Promise("one").Promise("two").Flush();
  const OnCampaign campaign = SmallCampaign(recording);
  std::map<std::size_t, std::set<std::size_t>> writes;  // By promises.
  for (const OnPlan& plan : PlanCrashes(campaign)) {
    EXPECT_EQ(FormatOnPlan(Parsed(FormatOnPlan(plan))), FormatOnPlan(plan));
    writes[plan.promises].insert(plan.image.writes.size());
  }
  // With and without the write, whatever was promised.
  const std::set<std::size_t> both{0, 1};
  EXPECT_EQ(writes,
            (std::map<std::size_t, std::set<std::size_t>>{{0, both}, {1, both}, {2, both}}));
}

TEST(PlanCrashes, NoPromiseBeforeItsTime) {
  SmallRecording recording;
  recording.Write(kFar, 512, 'a').Flush().Promise("one").Write(kFar + 4096, 512, 'b').Flush();
  const OnCampaign campaign = SmallCampaign(recording);
  for (const OnPlan& plan : PlanCrashes(campaign)) {
    std::byte first{};
    std::byte second{};
    const DeviceImage image = BuildImage(campaign.recordings[0].device, plan.image);
    image.Read(kFar, {&first, 1});
    image.Read(kFar + 4096, {&second, 1});
    if (plan.promises == 1) {
      EXPECT_EQ(first, std::byte{'a'}) << FormatOnPlan(plan);
    } else {
      EXPECT_EQ(second, DeviceImage::kFill) << FormatOnPlan(plan);
    }
  }
}

TEST(PlanCrashes, TheLimitHoldsAndTheSeedDecides) {
  SmallRecording recording;
  for (std::uint64_t i = 0; i < 12; ++i) recording.Write(kFar + i * 4096, 4096, 'a').Promise("p");
  OnCampaign campaign = SmallCampaign(recording);
  campaign.spec.images = 20;
  const auto texts = [&] {
    std::vector<std::string> all;
    for (const OnPlan& plan : PlanCrashes(campaign)) all.push_back(FormatOnPlan(plan));
    return all;
  };
  const auto first = texts();
  EXPECT_EQ(first.size(), 20U);
  EXPECT_EQ(texts(), first);
  campaign.spec.explore.seed = 2;
  EXPECT_NE(texts(), first);
}

}  // namespace
}  // namespace tornfs::harness
