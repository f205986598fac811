#include "harness/explore/summary.h"

#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "harness/cli.h"

namespace tornfs::harness {
namespace {

std::string Number(std::uint64_t value) {
  if (value == UINT64_MAX) return "1.8e19 or more";  // Where counters stop.
  std::string digits = std::to_string(value);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string Count(std::uint64_t value, const std::string& one) {
  const bool hissing = one.ends_with('s');
  return Number(value) + " " + one + (value == 1 ? "" : hissing ? "es" : "s");
}

bool Unfinished(const ExploreOutcome& outcome) {
  return outcome.interrupted || outcome.out_of_time || outcome.error.has_value();
}

// More shards than units.
bool EmptyShard(const ExploreOutcome& outcome) {
  return outcome.shard.count > 1 && outcome.all_units == 0;
}

std::string VerdictLine(const ExploreOutcome& outcome) {
  if (!outcome.findings.empty()) {
    return "verdict: " + Count(outcome.findings.size() + outcome.more_kinds.size(), "kind") +
           " of violation in " + Count(outcome.violations, "failing state");
  }
  if (outcome.error) return "verdict: inconclusive: " + outcome.error->Message();
  if (outcome.interrupted) return "verdict: inconclusive: stopped by a signal";
  if (outcome.out_of_time) return "verdict: inconclusive: the budget ended first";
  if (outcome.cannot_judge > 0) {
    return "verdict: inconclusive: the check could not judge " +
           Count(outcome.cannot_judge, "state") + " (" + outcome.cannot_judge_why + ")";
  }
  if (outcome.nothing_to_judge) {
    return "verdict: inconclusive: the workload replaced no file and promised nothing, so there is "
           "nothing to judge without --check";
  }
  if (EmptyShard(outcome)) return "verdict: no crash point is in this shard";
  if (outcome.states == 0) return "verdict: inconclusive: there was no state to try";
  return "verdict: no violation";
}

std::string AllWindows(const ExploreOutcome& outcome) {
  return outcome.windows == 1 ? "the only window" : "all " + Count(outcome.windows, "window");
}

std::string Coverage(const Campaign& campaign, const ExploreOutcome& outcome) {
  if (Unfinished(outcome)) {
    return Number(outcome.units) + " of " + Count(outcome.all_units, "crash point") + " done";
  }
  if (outcome.strategy == Strategy::kLazy && outcome.whole == outcome.windows) {
    return std::string("complete") + (outcome.concurrent ? " for the observed order" : "") +
           (campaign.oracle ? ": every legal state was judged in "
                            : ": every state that recovery or check can tell apart was tried in ") +
           AllWindows(outcome);
  }
  if (outcome.whole == outcome.windows) {
    return "every state of " + AllWindows(outcome) + " was tried";
  }
  return "sampled, not exhaustive: " + Number(outcome.whole) + " of " +
         Count(outcome.windows, "window") + " tried whole, the others by families and samples";
}

// A number of any size, for people: 24,589 or 2.9e25.
std::string Rounded(const std::string& digits) {
  if (digits.size() > 15) {
    return digits.substr(0, 1) + "." + digits.substr(1, 1) + "e" +
           std::to_string(digits.size() - 1);
  }
  return Number(std::stoull(digits));
}

std::string StatesText(const ExploreOutcome& outcome) {
  if (outcome.strategy != Strategy::kLazy) {
    return Count(outcome.states, "crash state") + " reached, " + Number(outcome.known) +
           " of them equal to one already judged";
  }
  std::string text = Rounded(outcome.legal.ToString()) + " legal states";
  if (outcome.uncounted > 0) {
    text += " and those of " + Count(outcome.uncounted, "crash point") + " with too many to count";
  }
  return text + ", told apart in " + Count(outcome.leaves, "way");
}

std::string RunsText(const ExploreOutcome& outcome) {
  char rate[96];
  const double seconds = static_cast<double>(outcome.elapsed.count()) / 1000;
  std::snprintf(rate, sizeof rate, " in %.1f s (%.0f runs/s)", seconds,
                seconds > 0 ? static_cast<double>(outcome.runs) / seconds : 0.0);
  const std::string text =
      "  " + Count(outcome.runs, "run") + " of recovery and check" + rate + "; ";
  if (outcome.strategy != Strategy::kLazy) {
    return text + Count(outcome.known, "state") + " equal to one judged before\n";
  }
  return text + Count(outcome.shared, "result") + " known without one, " + Number(outcome.audited) +
         " of them run all the same\n";
}

std::string ClaimsText(const Oracle& oracle, bool prints) {
  std::map<LintRule, std::uint64_t> claims;
  for (const Claim& claim : oracle.claims()) ++claims[claim.rule];
  std::string text =
      "  no check: each state was held against " + Count(oracle.claims().size(), "claim") + " (";
  for (const auto& [rule, count] : claims) {
    text +=
        (text.ends_with('(') ? "" : ", ") + std::string(LintRuleName(rule)) + " " + Number(count);
  }
  if (claims.empty()) text += "none";
  text += "); " + Number(oracle.settled()) + " more hold in any state\n";
  if (prints && !oracle.takes_promises()) {
    text +=
        "  no line counts as a promise: the workload synced nothing and went on after its last "
        "line\n";
  }
  return text;
}

nlohmann::json OracleJson(const Oracle* oracle) {
  if (oracle == nullptr) return nullptr;
  nlohmann::json claims = nlohmann::json::array();
  for (const Claim& claim : oracle->claims()) {
    claims.push_back({{"rule", LintRuleName(claim.rule)},
                      {"path", claim.ways.front().path},
                      {"because", claim.because}});
  }
  return {{"takes_promises", oracle->takes_promises()},
          {"settled", oracle->settled()},
          {"claims", std::move(claims)}};
}

nlohmann::json LazyJson(const ExploreOutcome& outcome) {
  return {{"legal", outcome.legal.ToString()},
          {"crash_points_not_counted", outcome.uncounted},
          {"difference", outcome.difference},
          {"concurrent", outcome.concurrent}};
}

bool LeftOutside(const Campaign& campaign, const ExploreOutcome& outcome) {
  return campaign.left_outside || outcome.left_outside > 0;
}

}  // namespace

int ExitCodeOf(const ExploreOutcome& outcome) {
  if (!outcome.findings.empty()) return kExitViolation;
  if (Unfinished(outcome) || outcome.nothing_to_judge ||
      (outcome.states == 0 && !EmptyShard(outcome)) || outcome.cannot_judge > 0) {
    return kExitInconclusive;
  }
  return kExitOk;
}

std::string SummaryText(const Campaign& campaign, const ExploreOutcome& outcome,
                        const std::string& out_directory) {
  const Recording& workload = *campaign.workload;
  const ExploreSpec& spec = campaign.spec;
  std::string text;
  for (const auto& [signature, kind] : outcome.findings) {
    text += "\n" + kind.finding.id + "  " + kind.finding.title + "\n";
    text += "  why     " + kind.finding.sentence + "\n";
    if (kind.finding.fence) {
      text += "  fix     " + kind.finding.fence->Text() + "; then none of " +
              Count(kind.finding.fence->states, "failing state") + " looked at is legal\n";
    }
    text += "  states  " + Number(kind.states) + "\n";
    text += "  models ";
    for (const std::string& model : kind.finding.models) text += " " + model;
    text += "\n";
    text += "  replay  tornfs replay " + kind.finding.id + " --out " + out_directory + "\n";
  }
  if (!outcome.more_kinds.empty()) {
    text += "\nand " + Count(outcome.more_kinds.size(), "more kind") +
            " that look different; the first " + Number(kMaxKinds) + " are written up\n";
  }
  text += "\n" + VerdictLine(outcome) + "\n";
  text += "  model " + spec.model + ", tear " + std::string(TearName(spec.tear)) + ", faults " +
          (spec.kill ? "kill,power" : "power") + ", depth " + std::to_string(spec.depth) + "\n";
  text += "  workload: " + Count(workload.ops.size(), "op") + ", " +
          Count(workload.promises.size(), "promise") + "\n";
  text += "  " + Count(outcome.units, "crash point") + ", " + StatesText(outcome) + "\n";
  text += campaign.oracle ? ClaimsText(*campaign.oracle, !workload.promises.empty())
                          : RunsText(outcome);
  text += "  " + Coverage(campaign, outcome) + "\n";
  if (outcome.shard.count > 1) {
    text += "  shard " + std::to_string(outcome.shard.index + 1) + "/" +
            std::to_string(outcome.shard.count) + "; tornfs merge puts the results together\n";
  }
  if (!outcome.difference.empty()) {
    text += "  note: not explored lazily, the programs are no functions of what they find: " +
            outcome.difference + "\n";
  }
  if (campaign.promises_at_exit) {
    text += "  note: every promise came at the end; does the program flush its output?\n";
  }
  if (outcome.stragglers > 0) {
    text += "  note: processes outlived recovery or check and had to be killed\n";
  }
  if (LeftOutside(campaign, outcome)) {
    text += "  note: files were left in /tmp or /dev/shm; no run sees those of another\n";
  }
  if (!campaign.outside_writes.empty()) {
    text += "  note: tried to change " + *campaign.outside_writes.begin() +
            (campaign.outside_writes.size() == 1
                 ? ""
                 : " and " + Count(campaign.outside_writes.size() - 1, "other path")) +
            " outside the world, which is read-only (looked for while recording)\n";
  }
  if (!campaign.sees_syncs) {
    text +=
        "  note: sync(2) and syncfs(2) are not seen here (that needs root) and made nothing "
        "durable; a program that relies on them is not judged rightly\n";
  }
  text += "  details in " + out_directory + "\n";
  return text;
}

nlohmann::json StatsJson(const Campaign& campaign, const ExploreOutcome& outcome) {
  nlohmann::json findings = nlohmann::json::array();
  for (const auto& [signature, kind] : outcome.findings) {
    nlohmann::json finding = FindingToJson(kind.finding);
    finding["states"] = kind.states;
    findings.push_back(std::move(finding));
  }
  return {{"version", 1},
          {"exit_code", ExitCodeOf(outcome)},
          {"verdict", VerdictLine(outcome)},
          {"coverage", Coverage(campaign, outcome)},
          {"exploration", SpecToJson(campaign.spec)},
          {"history", campaign.history},
          {"ops", campaign.workload->ops.size()},
          {"promises", campaign.workload->promises.size()},
          {"syncs_seen", campaign.sees_syncs},
          {"outside_writes", campaign.outside_writes},
          {"left_in_tmp", LeftOutside(campaign, outcome)},
          {"crash_points", outcome.units},
          {"strategy", StrategyName(outcome.strategy)},
          {"oracle", OracleJson(campaign.oracle.get())},
          {"lazy", LazyJson(outcome)},
          {"states", outcome.states},
          {"failing_states", outcome.violations},
          {"windows", outcome.windows},
          {"windows_tried_whole", outcome.whole},
          {"findings", std::move(findings)},
          {"more_kinds", outcome.more_kinds.size()},
          {"timing",
           {{"elapsed_ms", outcome.elapsed.count()},
            {"runs", outcome.runs},
            {"leaves", outcome.leaves},
            {"shared", outcome.shared},
            {"audited", outcome.audited},
            {"overdecided", outcome.overdecided},
            {"states_tried", outcome.tried},
            {"states_known", outcome.known},
            {"distinct_good", outcome.distinct_good}}}};
}

std::string EventsText(const Recording& workload) {
  std::string text;
  const auto add = [&](const nlohmann::json& event) {
    text += event.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  };
  std::size_t promise = 0;
  const auto promises_up_to = [&](OpNumber cut) {
    for (; promise < workload.promises.size() && workload.promises[promise].cut <= cut; ++promise) {
      add({{"promise", workload.promises[promise].line}});
    }
  };
  for (const Op& op : workload.ops) {
    promises_up_to(op.number);
    nlohmann::json event = {{"op", op.number}, {"kind", OpKindName(op.kind)}, {"path", op.path}};
    if (!op.to.empty()) event["to"] = op.to;
    if (op.length > 0) event["length"] = op.length;
    if (op.offset > 0) event["offset"] = op.offset;
    add(event);
  }
  promises_up_to(workload.end());
  return text;
}

}  // namespace tornfs::harness
