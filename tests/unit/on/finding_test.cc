#include "harness/on/finding.h"

#include <gtest/gtest.h>

#include <string>

#include "harness/on/loss.h"
#include "unit/on/small_campaign.h"

namespace tornfs::harness {
namespace {

// Events: 0 write, 1 flush, 2 promise, 3 and 4 writes, 5 promise.
OnCampaign Campaign() {
  SmallRecording recording;
  recording.Write(4096, 4096, 'a').Flush().Promise("one");
  recording.Write(8192, 4096, 'b').Write(16384, 1024, 'c').Promise("two");
  return SmallCampaign(recording);
}

OnPlan Plan(const OnCampaign& campaign, const std::string& rest) {
  return ParseOnPlan("d1-" + campaign.history + "/F." + rest).value();
}

TEST(LossOf, CountsWhatWasIssuedAndIsNotThere) {
  const OnCampaign campaign = Campaign();
  const OnRecording& recording = campaign.recordings[0];
  const BlockLoss loss = LossOf(recording, Plan(campaign, "1.-.2:4@0").image);
  EXPECT_EQ(loss.flushes, 1U);
  EXPECT_EQ(loss.durable, 1U);
  EXPECT_EQ(loss.open, 2U);
  EXPECT_EQ(loss.lost, 2U);
  EXPECT_EQ(loss.torn, 1U);
  EXPECT_EQ(loss.lost_bytes, 4096U + 512U);
  // Before the first write was issued there was none to be lost.
  EXPECT_EQ(LossOf(recording, Plan(campaign, "-.1.0").image).open, 0U);
  EXPECT_EQ(LossOf(recording, Plan(campaign, "1.-.2:3-4").image).lost, 0U);
}

TEST(OnSentence, SaysWhenAndWhat) {
  const OnCampaign campaign = Campaign();
  const OnRecording& recording = campaign.recordings[0];
  EXPECT_EQ(OnSentence(campaign, recording, Plan(campaign, "1.-.2:4@0")),
            "on ext4 the power was cut after promise 2 (`two`), when everything had been written, "
            "1 flush after the start; of 2 block writes that no flush covered 2 were lost, 1 of "
            "them in part (4608 bytes)");
  const auto& promise = recording.device.log[5];
  EXPECT_EQ(OnSentence(campaign, recording,
                       Plan(campaign, "1." + std::to_string(promise.issued) + ".1:3-4")),
            "on ext4 the power was cut after promise 1 (`one`) and before the next, 1 flush after "
            "the start; the device lost nothing that it had been sent, so what is missing was "
            "still in memory");
}

TEST(OnTimeline, EndsAtTheCrash) {
  const OnCampaign campaign = Campaign();
  const OnRecording& recording = campaign.recordings[0];
  const auto& promise = recording.device.log[5];
  EXPECT_EQ(OnTimeline(recording, Plan(campaign, "1." + std::to_string(promise.issued) + ".1:4")),
            "     kept  #0 write 4096 B at 4096\n#1 flush 1\n     promised: one\n"
            "     LOST  #3 write 4096 B at 8192\n     kept  #4 write 1024 B at 16384\n"
            "---- power lost\n");
  EXPECT_EQ(
      OnTimeline(recording,
                 Plan(campaign, "-." + std::to_string(recording.device.log[1].completed) + ".0")),
      "     LOST  #0 write 4096 B at 4096\n---- power lost\n");
}

}  // namespace
}  // namespace tornfs::harness
