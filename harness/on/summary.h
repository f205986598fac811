// What an exploration on a real filesystem came to, for people and for machines.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harness/on/campaign.h"
#include "harness/on/coordinator.h"
#include "harness/on/finding.h"

namespace tornfs::harness {

// 1 with a violation, otherwise 3 when not all images were tried or judged, otherwise 0.
[[nodiscard]] int OnExitCode(const OnOutcome& outcome);

[[nodiscard]] std::string OnSummaryText(const OnCampaign& campaign, const OnOutcome& outcome,
                                        const std::vector<OnFinding>& findings,
                                        const std::string& out_directory);

// stats.json, as LoadReport() (harness/report/report.h) reads it.
[[nodiscard]] nlohmann::json OnStatsJson(const OnCampaign& campaign, const OnOutcome& outcome,
                                         const std::vector<OnFinding>& findings);

}  // namespace tornfs::harness
