// OnPlan: one power loss of a device, as a value. With the trace it says exactly which image a
// finding is about.
//
// As text: "d1-HISTORY/F.120.431.3:121-124,130@0-3+7" - the version, the history's name, the letter
// of the schedule, the event that is the last flush answered (- for none), the time of the log
// before which the power was lost (- for its end), the number of promises made by then, and the
// events that reached the device of those that no flush covers; behind @ the sectors of one that
// was torn.
#pragma once

#include <string>
#include <string_view>

#include "common/result.h"
#include "harness/device/crash_images.h"
#include "harness/device/schedule.h"
#include "harness/on/campaign.h"

namespace tornfs::harness {

struct OnPlan {
  std::string history;
  Schedule schedule = Schedule::kSync;
  std::size_t promises = 0;
  CrashImage image;  // Without digest and moments.
};

[[nodiscard]] std::string FormatOnPlan(const OnPlan& plan);
// Errors: kInvalid.
[[nodiscard]] Result<OnPlan> ParseOnPlan(std::string_view text);

// The recording that `plan` is about. Errors: kInvalid if there is none, or it has no such events.
[[nodiscard]] Result<const OnRecording*> RecordingOf(const OnCampaign& campaign,
                                                     const OnPlan& plan);

// The crashes to be tried: of every recording those at each flush, before each promise and at the
// end, as many as the campaign's limit, chosen and ordered by its seed.
[[nodiscard]] std::vector<OnPlan> PlanCrashes(const OnCampaign& campaign);

}  // namespace tornfs::harness
