#include "harness/on/summary.h"

#include <sys/utsname.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "harness/cli.h"

namespace tornfs::harness {
namespace {

std::string Count(std::uint64_t count, const std::string& one) {
  return std::to_string(count) + " " + one + (count == 1 ? "" : one.ends_with("sh") ? "es" : "s");
}

std::uint64_t Judged(const OnOutcome& outcome) { return outcome.tried - outcome.unmounted; }

std::string VerdictLine(const OnOutcome& outcome) {
  if (!outcome.kinds.empty()) {
    return "verdict: " + Count(outcome.kinds.size(), "kind") + " of violation in " +
           Count(outcome.violations, "failing image");
  }
  if (outcome.error) return "verdict: inconclusive: " + outcome.error->Message();
  if (outcome.interrupted) return "verdict: inconclusive: stopped by a signal";
  if (outcome.out_of_time) return "verdict: inconclusive: the budget ended first";
  if (outcome.cannot_judge > 0) {
    return "verdict: inconclusive: the check could not judge " +
           Count(outcome.cannot_judge, "image") + " (" + outcome.cannot_judge_why + ")";
  }
  if (Judged(outcome) == 0) return "verdict: inconclusive: no image could be mounted";
  return "verdict: no violation";
}

std::string Coverage(const OnOutcome& outcome) {
  std::string text = "sampled, never exhaustive: " + std::to_string(outcome.tried) + " of " +
                     Count(outcome.plans.size(), "chosen crash image") + " tried";
  if (outcome.unmounted > 0) {
    text += ", " + Count(outcome.unmounted, "image") + " could not be mounted and " +
            (outcome.unmounted == 1 ? "was" : "were") + " not judged (" + outcome.unmounted_why +
            ")";
  }
  return text;
}

std::string KernelText() {
  utsname names{};
  return ::uname(&names) == 0 ? std::string(names.sysname) + " " + names.release : "this kernel";
}

std::uint64_t Requests(const OnCampaign& campaign, IoEvent::Kind kind) {
  std::uint64_t count = 0;
  for (const OnRecording& recording : campaign.recordings) {
    count +=
        static_cast<std::uint64_t>(std::ranges::count(recording.device.log, kind, &IoEvent::kind));
  }
  return count;
}

}  // namespace

int OnExitCode(const OnOutcome& outcome) {
  if (!outcome.kinds.empty()) return kExitViolation;
  if (outcome.unfinished() || outcome.cannot_judge > 0 || Judged(outcome) == 0) {
    return kExitInconclusive;
  }
  return kExitOk;
}

std::string OnSummaryText(const OnCampaign& campaign, const OnOutcome& outcome,
                          const std::vector<OnFinding>& findings,
                          const std::string& out_directory) {
  std::string text;
  for (const OnFinding& found : findings) {
    text += "\n" + found.finding.id + "  " + found.finding.title + "\n";
    text += "  why     " + found.finding.sentence + "\n";
    text += "  images  " + std::to_string(found.images) + "; again " +
            std::to_string(found.reproduced) + " of " + std::to_string(found.again) + " times\n";
    text += "  replay  tornfs replay " + found.finding.id + " --out " + out_directory + "\n";
  }
  if (outcome.kinds.size() > findings.size()) {
    text += "\nand " + Count(outcome.kinds.size() - findings.size(), "more kind") +
            " that look different\n";
  }
  text += "\n" + VerdictLine(outcome) + "\n";
  text += "  on " + campaign.spec.filesystem.name + " of " + KernelText() + "\n";
  text += "  workload, recorded under each of " + ScheduleLetters(campaign.spec.schedules) + ": " +
          Count(Requests(campaign, IoEvent::Kind::kMark), "promise") + ", " +
          Count(Requests(campaign, IoEvent::Kind::kWrite), "block write") + ", " +
          Count(Requests(campaign, IoEvent::Kind::kFlush), "flush") + "\n";
  char rate[64];
  const double seconds = static_cast<double>(outcome.elapsed.count()) / 1000;
  std::snprintf(rate, sizeof rate, "%.1f s (%.0f images/s)", seconds,
                seconds > 0 ? static_cast<double>(outcome.tried) / seconds : 0.0);
  text +=
      "  " + Count(outcome.tried, "image") + " mounted, recovered and checked in " + rate + "\n";
  return text + "  " + Coverage(outcome) + "\n  details in " + out_directory + "\n";
}

nlohmann::json OnStatsJson(const OnCampaign& campaign, const OnOutcome& outcome,
                           const std::vector<OnFinding>& findings) {
  nlohmann::json list = nlohmann::json::array();
  for (const OnFinding& found : findings) {
    nlohmann::json finding = FindingToJson(found.finding);
    finding["states"] = found.images;
    finding["again"] = found.again;
    finding["reproduced"] = found.reproduced;
    list.push_back(std::move(finding));
  }
  const auto number = [](std::uint64_t value) { return std::to_string(value); };
  return {{"version", 1},
          {"exit_code", OnExitCode(outcome)},
          {"verdict", VerdictLine(outcome)},
          {"coverage", Coverage(outcome)},
          {"exploration", SpecToJson(campaign.spec.explore)},
          {"history", campaign.history},
          // For a table in a report.
          {"on",
           {{"filesystem", campaign.spec.filesystem.name},
            {"kernel", KernelText()},
            {"schedules", ScheduleLetters(campaign.spec.schedules)},
            {"seed", number(campaign.spec.explore.seed)},
            {"promises", number(Requests(campaign, IoEvent::Kind::kMark))},
            {"block writes", number(Requests(campaign, IoEvent::Kind::kWrite))},
            {"flushes", number(Requests(campaign, IoEvent::Kind::kFlush))},
            {"history", campaign.history}}},
          {"images", outcome.plans.size()},
          {"images_tried", outcome.tried},
          {"images_not_mounted", outcome.unmounted},
          {"states", Judged(outcome)},
          {"failing_states", outcome.violations},
          {"findings", std::move(list)},
          {"more_kinds", outcome.kinds.size() - findings.size()},
          {"timing", {{"elapsed_ms", outcome.elapsed.count()}}}};
}

}  // namespace tornfs::harness
