// Summary: what an exploration came to, for people and for machines, and the exit code it means.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "harness/explore/campaign.h"
#include "harness/explore/coordinator.h"

namespace tornfs::harness {

// 1 with a violation, otherwise 3 when not everything asked for was tried or judged, otherwise 0.
[[nodiscard]] int ExitCodeOf(const ExploreOutcome& outcome);

// The verdict in a few lines: findings with their sentences, what was covered, what was not.
[[nodiscard]] std::string SummaryText(const Campaign& campaign, const ExploreOutcome& outcome,
                                      const std::string& out_directory);

// stats.json. Fields that depend on the machine or on the number of jobs stand under "timing".
[[nodiscard]] nlohmann::json StatsJson(const Campaign& campaign, const ExploreOutcome& outcome);

// events.jsonl: the recorded workload, an object a line: ops, and promises where they were made.
[[nodiscard]] std::string EventsText(const Recording& workload);

}  // namespace tornfs::harness
