#include "harness/explore/results.h"

#include <cerrno>
#include <nlohmann/json.hpp>

#include "common/fd.h"
#include "harness/explore/fence_search.h"
#include "harness/explore/summary.h"
#include "harness/report/report.h"

namespace tornfs::harness {
namespace {

constexpr const char* kShardFile = "/shard.json";

std::string Text(const nlohmann::json& json) {
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

Status AddFences(const Campaign& campaign, ExploreOutcome& outcome, const std::string& out) {
  for (auto& [signature, kind] : outcome.findings) {
    const auto plan = ParsePlan(kind.finding.plan);
    if (!plan) return tl::make_unexpected(plan.error());
    std::vector<Plan> failing = FailingPlans(kind);
    failing.push_back(*plan);
    kind.finding.fence = SuggestFence(campaign, *plan, failing);
    if (!kind.finding.fence) continue;
    auto written =
        RewriteFinding(out + "/findings/" + kind.finding.id, kind.finding, campaign.spec);
    if (!written) return written;
  }
  return {};
}

}  // namespace

Status WriteResults(const Campaign& campaign, ExploreOutcome& outcome, const std::string& out) {
  Status written = AddFences(campaign, outcome, out);
  if (written) written = WriteFile(out + "/stats.json", Text(StatsJson(campaign, outcome)));
  if (written) written = WriteFile(out + "/events.jsonl", EventsText(*campaign.workload));
  if (written && outcome.shard.count > 1) {
    written = WriteFile(out + kShardFile, Text(OutcomeToJson(outcome)));
  }
  return written ? WriteReports(out) : written;
}

Result<ExploreOutcome> LoadShard(const std::string& out) {
  auto text = ReadFile(out + kShardFile);
  if (!text && text.error().sys_errno == ENOENT) {
    return Fail(ErrorCode::kNotFound, out + " holds no results of explore --shard");
  }
  if (!text) return tl::make_unexpected(text.error());
  return OutcomeFromJson(nlohmann::json::parse(*text, nullptr, false));
}

}  // namespace tornfs::harness
