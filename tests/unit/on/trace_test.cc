#include "harness/on/trace.h"

#include <gtest/gtest.h>

#include <string>

#include "common/fd.h"
#include "harness/device/crash_images.h"
#include "unit/harness/temp_dir.h"
#include "unit/on/small_campaign.h"

namespace tornfs::harness {
namespace {

OnCampaign Campaign() {
  SmallRecording recording;
  recording.Write(8192, 512, 'a').Promise("one").Flush().Write(8704, 4608, 'b').Promise("t\xffwo");
  OnCampaign campaign = SmallCampaign(recording);
  const std::vector<std::byte> block(4096, std::byte{'x'});
  campaign.recordings[0].device.base.Write(4096, block);
  campaign.recordings[0].device.log.back().completed = IoEvent::kNever;
  NameHistory(campaign);
  return campaign;
}

TEST(OnTrace, IsReadAsItWasWritten) {
  const TempDir folder;
  const OnCampaign campaign = Campaign();
  ASSERT_TRUE(SaveOnCampaign(campaign, folder / "trace"));
  EXPECT_TRUE(IsOnTrace(folder / "trace"));
  const auto read = LoadOnCampaign(folder / "trace");
  ASSERT_TRUE(read) << read.error().Message();
  EXPECT_EQ(read->history, campaign.history);
  EXPECT_EQ(read->spec.explore.check, campaign.spec.explore.check);
  EXPECT_EQ(read->spec.filesystem.name, "ext4");
  EXPECT_EQ(read->spec.schedules, campaign.spec.schedules);
  ASSERT_EQ(read->recordings.size(), 1U);
  const OnRecording& recording = read->recordings[0];
  EXPECT_EQ(recording.promises, campaign.recordings[0].promises);
  EXPECT_EQ(recording.schedule, Schedule::kFsync);
  std::string contents(16384, '.');
  const auto bytes = std::as_writable_bytes(std::span(contents));
  FinalImage(recording.device).Read(0, bytes);
  std::string expected(16384, '.');
  FinalImage(campaign.recordings[0].device).Read(0, std::as_writable_bytes(std::span(expected)));
  EXPECT_EQ(contents, expected);
  const IoEvent& last = recording.device.log.back();
  EXPECT_EQ(last.completed, IoEvent::kNever);
  EXPECT_EQ(last.mark, 3U);
}

TEST(OnTrace, DamageIsFound) {
  const TempDir folder;
  ASSERT_TRUE(SaveOnCampaign(Campaign(), folder / "trace"));
  const std::string good = ReadFile(folder / "trace").value();
  for (std::size_t at = 0; at < good.size(); at += 97) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x40);
    ASSERT_TRUE(WriteFile(folder / "bad", bad));
    EXPECT_FALSE(LoadOnCampaign(folder / "bad")) << at;
    ASSERT_TRUE(WriteFile(folder / "bad", good.substr(0, at)));
    EXPECT_FALSE(LoadOnCampaign(folder / "bad")) << at;
  }
  EXPECT_FALSE(LoadOnCampaign(folder / "absent"));
}

}  // namespace
}  // namespace tornfs::harness
