// tornfs replay: carries out the plan of a finding again and says whether it still fails.
#include <boost/program_options.hpp>
#include <iostream>
#include <nlohmann/json.hpp>

#include "common/fd.h"
#include "common/log.h"
#include "common/units.h"
#include "harness/commands.h"
#include "harness/cpu.h"
#include "harness/explore/campaign_trace.h"
#include "harness/explore/explain.h"
#include "harness/explore/finding.h"
#include "harness/explore/interrupt.h"
#include "harness/explore/out_directory.h"
#include "harness/explore_on.h"
#include "harness/failure.h"
#include "harness/on/trace.h"
#include "harness/printing.h"
#include "harness/sandbox.h"

namespace tornfs::harness {
namespace {

namespace po = boost::program_options;

void Describe(po::options_description& options, std::vector<Positional>& positionals) {
  positionals.push_back({"ID", false});
  auto add = options.add_options();
  add("out", po::value<std::string>()->default_value(kDefaultOut),
      "where explore wrote its results");
  add("plan", po::value<std::string>(), "carry out this plan instead of a finding's");
  add("image", po::value<std::string>(),
      "of explore --on: write the device after the crash to this file, for mount -o loop");
  add("times", po::value<std::string>()->default_value("1"), "how often, each with new processes");
}

// What is to be carried out, and the failure expected; empty when only a plan was given.
struct Wanted {
  std::string plan;  // As text.
  std::string signature;
};

Result<Wanted> Find(const ParsedCommand& parsed, const std::string& out) {
  if (parsed.options.count("plan") > 0) return Wanted{parsed.options["plan"].as<std::string>(), ""};
  auto folder = FindFinding(out, parsed.positionals.front());
  if (!folder) return tl::make_unexpected(folder.error());
  auto file = ReadFile(*folder + "/finding.json");
  if (!file) return tl::make_unexpected(file.error());
  auto finding = FindingFromJson(nlohmann::json::parse(*file, nullptr, false));
  if (!finding) return tl::make_unexpected(finding.error());
  return Wanted{finding->plan, finding->signature};
}

void Print(const ParsedCommand& parsed, const PlanContext& context, const Plan& plan,
           const PlanRun& run, bool same) {
  const Finding finding = MakeFinding(context, plan, run);
  if (parsed.json) {
    nlohmann::json json = FindingToJson(finding);
    json["reproduced"] = same;
    json["violation"] = !run.verdict.good();
    std::cout << json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
    return;
  }
  std::cout << Timeline(plan, run);
  if (!run.verdict.good()) std::cout << "why: " << finding.sentence << "\n";
}

Result<int> Replay(const ParsedCommand& parsed, const std::string& out, std::uint64_t times) {
  auto wanted = Find(parsed, out);
  if (!wanted) return tl::make_unexpected(wanted.error());
  const std::string image =
      parsed.options.count("image") > 0 ? parsed.options["image"].as<std::string>() : "";
  if (IsOnTrace(out + "/trace")) {
    return ReplayOn(parsed, {out, wanted->plan, wanted->signature, times, image});
  }
  if (!image.empty()) {
    return Fail(ErrorCode::kInvalid, "--image is for what explore --on found");
  }
  const auto plan = ParsePlan(wanted->plan);
  if (!plan) return tl::make_unexpected(plan.error());
  auto campaign = LoadCampaign(out + "/trace");
  if (!campaign) return tl::make_unexpected(campaign.error());
  if (campaign->history != plan->history) {
    return Fail(ErrorCode::kInvalid, "the plan is about history " + plan->history +
                                         ", the trace holds " + campaign->history);
  }
  Status ready = MakeDirectories(campaign->spec.mount_path);
  if (ready && MayUseNamespaces()) ready = EnterPrivateNamespaces();
  if (!ready) return tl::make_unexpected(ready.error());
  auto stage =
      Stage::Open(*campaign->store, *campaign->model, campaign->Options(AvailableCores().front()));
  if (!stage) return tl::make_unexpected(stage.error());
  std::uint64_t same = 0;
  bool violation = false;
  for (std::uint64_t i = 0; i < times; ++i) {
    // A prober of its own for each time, so that nothing is remembered from the run before.
    Prober prober(**stage, *campaign->store, campaign->recover, campaign->check);
    const PlanContext context{campaign->workload, *campaign->model, campaign->spec.tear,
                              *campaign->store,   prober,           campaign->oracle.get()};
    auto run = RunPlan(context, *plan);
    if (!run) return tl::make_unexpected(run.error());
    const bool fails = !run->verdict.good();
    const bool matches =
        wanted->signature.empty() || (fails && run->verdict.Signature() == wanted->signature);
    violation = violation || fails;
    same += matches ? 1 : 0;
    if (i + 1 == times) Print(parsed, context, *plan, *run, matches);
  }
  if (!wanted->signature.empty()) {
    LogInfo("reproduced " + std::to_string(same) + " of " + std::to_string(times));
    if (same < times) return kExitNotReproduced;
  }
  return violation ? kExitViolation : kExitOk;
}

int Run(const ParsedCommand& parsed) {
  if (!CanPrint()) return kExitInconclusive;
  if (parsed.positionals.empty() == (parsed.options.count("plan") == 0)) {
    return UsageError(parsed, "give either the ID of a finding or --plan TOKEN");
  }
  auto times = ParseNumber(parsed.options["times"].as<std::string>());
  if (!times || *times == 0) return UsageError(parsed, "--times takes a number of at least 1");
  auto code = Replay(parsed, parsed.options["out"].as<std::string>(), *times);
  return code ? AfterPrinting(*code) : ReportUnusableResult(code.error());
}

}  // namespace

const Command kReplayCommand{
    "replay",
    "carry out the plan of a finding again",
    "ID [options] | --plan TOKEN [options]",
    "Takes the trace that explore wrote, crashes it as the plan says, and runs recovery and "
    "check. What explore --on found is put on a device again, and mounted.\n"
    "\n"
    "Exit status: 1 it fails as it did, 4 it does not, 0 a plan without a finding that is good.",
    TakesChild::kNone,
    Describe,
    Run};

}  // namespace tornfs::harness
