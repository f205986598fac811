// Findings of `explore --on`: the same folder as that of any exploration
// (harness/explore/finding.h), with two differences. before/ is the world at the end of the
// workload, since nobody looked at it at the moment of the crash; timeline.txt has what the
// filesystem asked of its device.
#pragma once

#include <string>
#include <vector>

#include "common/result.h"
#include "harness/explore/finding.h"
#include "harness/on/campaign.h"
#include "harness/on/coordinator.h"
#include "harness/on/plan.h"
#include "harness/on/stage.h"

namespace tornfs::harness {

struct OnFinding {
  Finding finding;  // Without losses, models and fence.
  std::uint64_t images = 0;
  // The crash was carried out so often again, and failed so often as before.
  std::uint64_t again = 0;
  std::uint64_t reproduced = 0;
};

// When the power was lost, and what the device had by then.
[[nodiscard]] std::string OnSentence(const OnCampaign& campaign, const OnRecording& recording,
                                     const OnPlan& plan);
// Requests and promises up to the crash, a line each.
[[nodiscard]] std::string OnTimeline(const OnRecording& recording, const OnPlan& plan);

// Carries out one crash of each kind again, on `stage`, and writes its folder below
// `findings_folder`. In the order of signatures; at most kMaxKinds. Errors: kIo; kTimeout when
// interrupted.
[[nodiscard]] Result<std::vector<OnFinding>> WriteOnFindings(const OnCampaign& campaign,
                                                             const OnOutcome& outcome,
                                                             OnStage& stage,
                                                             const std::string& findings_folder);

}  // namespace tornfs::harness
