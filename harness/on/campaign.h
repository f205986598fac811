// OnCampaign: a workload recorded on a real filesystem, and what crashes of it are judged by.
//
// A filesystem writes when it likes, so one run shows one order of its writes. The workload is run
// once under each schedule, each time on a copy of the same device.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/result.h"
#include "harness/device/device_recording.h"
#include "harness/explore/campaign.h"
#include "harness/on/spec.h"

namespace tornfs::harness {

class OnStage;
class RepeatedInput;

struct OnRecording {
  Schedule schedule = Schedule::kSync;
  DeviceRecording device;             // Promise n, from 0, has mark 2n + 1.
  std::vector<std::string> promises;  // Lines.
};

struct OnCampaign {
  OnSpec spec;
  std::vector<OnRecording> recordings;
  std::string history;  // 16 hex digits that name all of them.
};

// The first `count` promises as a file of lines.
[[nodiscard]] std::string PromiseText(const OnRecording& recording, std::size_t count);

// Makes the filesystem, imports, runs setup, records the workload under every schedule, and makes
// sure that recovery and check are content with the state before the workload and with those after
// it. `failure` is set when they are not. Errors: kMissing, kIo; kTimeout when interrupted.
[[nodiscard]] Status RecordOn(OnCampaign& campaign, OnStage& stage, const RepeatedInput& input,
                              std::optional<RecordFailure>& failure);

// Sets `history`, from the recordings.
void NameHistory(OnCampaign& campaign);

}  // namespace tornfs::harness
