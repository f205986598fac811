// A campaign whose recording was made by hand.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "harness/on/campaign.h"

namespace tornfs::harness {

// A recording in the making, one request after the other; each is answered before the next.
class SmallRecording {
 public:
  SmallRecording& Write(std::uint64_t offset, std::size_t bytes, char byte) {
    IoEvent event{IoEvent::Kind::kWrite, clock_ + 1, clock_ + 2, offset, {}, 0};
    event.data.assign(bytes, static_cast<std::byte>(byte));
    return Add(std::move(event));
  }
  SmallRecording& Flush() { return Add({IoEvent::Kind::kFlush, clock_ + 1, clock_ + 2, 0, {}, 0}); }
  SmallRecording& Promise(const std::string& line) {
    const std::uint64_t mark = 2 * recording_.promises.size() + 1;
    recording_.promises.push_back(line);
    return Add({IoEvent::Kind::kMark, clock_ + 1, clock_ + 1, 0, {}, mark});
  }
  [[nodiscard]] const OnRecording& get() const { return recording_; }

 private:
  SmallRecording& Add(IoEvent event) {
    recording_.device.log.push_back(std::move(event));
    clock_ += 2;
    return *this;
  }
  OnRecording recording_{Schedule::kFsync, {DeviceImage(kDeviceBytes), {}}, {}};
  std::uint64_t clock_ = 0;
};

// Of ext4, with that one recording.
inline OnCampaign SmallCampaign(const SmallRecording& recording) {
  OnCampaign campaign;
  campaign.spec.explore.workload = {"program"};
  campaign.spec.explore.check = "check {promises}";
  campaign.spec.filesystem = FindRoomyFilesystem("ext4").value();
  campaign.spec.schedules = {Schedule::kFsync};
  campaign.recordings.push_back(recording.get());
  NameHistory(campaign);
  return campaign;
}

}  // namespace tornfs::harness
