// tornfs shrink: makes a finding as small as it gets, however long that takes.
#include <boost/program_options.hpp>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "common/fd.h"
#include "common/log.h"
#include "common/units.h"
#include "harness/commands.h"
#include "harness/cpu.h"
#include "harness/explore/campaign_trace.h"
#include "harness/explore/finding.h"
#include "harness/explore/out_directory.h"
#include "harness/failure.h"
#include "harness/on/trace.h"
#include "harness/printing.h"
#include "harness/sandbox.h"

namespace tornfs::harness {
namespace {

namespace po = boost::program_options;

void Describe(po::options_description& options, std::vector<Positional>& positionals) {
  positionals.push_back({"ID", true});
  auto add = options.add_options();
  add("out", po::value<std::string>()->default_value(kDefaultOut),
      "where explore wrote its results");
  add("runs", po::value<std::string>()->default_value("10000"), "tries at most");
}

std::size_t LostIn(const PlanRun& run) {
  std::size_t lost = 0;
  for (const PowerLossSeen& seen : run.power_losses) {
    for (const bool kept : seen.choice.kept) lost += kept ? 0 : 1;
  }
  return lost;
}

Result<Finding> LoadFinding(const std::string& folder) {
  auto file = ReadFile(folder + "/finding.json");
  if (!file) return tl::make_unexpected(file.error());
  return FindingFromJson(nlohmann::json::parse(*file, nullptr, false));
}

// A plan that no single lost node can be given back of: Shrink passes once, and what one pass gave
// back can make room for more.
Result<Plan> ShrinkWhole(const PlanContext& context, Plan plan, const std::string& signature,
                         unsigned runs) {
  for (;;) {
    auto smaller = Shrink(context, plan, signature, runs);
    if (!smaller || *smaller == plan) return smaller;
    plan = std::move(*smaller);
  }
}

Result<int> ShrinkFinding(const ParsedCommand& parsed, unsigned runs) {
  const std::string out = parsed.options["out"].as<std::string>();
  auto folder = FindFinding(out, parsed.positionals.front());
  if (!folder) return tl::make_unexpected(folder.error());
  auto finding = LoadFinding(*folder);
  if (!finding) return tl::make_unexpected(finding.error());
  if (const Status other = MustNotBeOnTrace(out); !other) return tl::make_unexpected(other.error());
  auto campaign = LoadCampaign(out);
  if (!campaign) return tl::make_unexpected(campaign.error());
  const auto plan = ParsePlan(finding->plan);
  if (!plan) return tl::make_unexpected(plan.error());
  if (plan->history != campaign->history) {
    return Fail(ErrorCode::kInvalid, "the finding is about another recording than " + out);
  }
  Status ready = MakeDirectories(campaign->spec.mount_path);
  if (ready && MayUseNamespaces()) ready = EnterPrivateNamespaces();
  if (!ready) return tl::make_unexpected(ready.error());
  auto stage =
      Stage::Open(*campaign->store, *campaign->model, campaign->Options(AvailableCores().front()));
  if (!stage) return tl::make_unexpected(stage.error());
  if (campaign->uses_mappings) (*stage)->PullMappings();
  Prober prober(**stage, *campaign->store, campaign->recover, campaign->check);
  const PlanContext context{campaign->workload, *campaign->model, campaign->spec.tear,
                            *campaign->store,   prober,           campaign->oracle.get()};
  const auto before = RunPlan(context, *plan);
  if (!before) return tl::make_unexpected(before.error());
  if (before->verdict.good() || before->verdict.Signature() != finding->signature) {
    LogError("the finding does not fail as it did, so it cannot be made smaller");
    return kExitNotReproduced;
  }
  const auto smaller = ShrinkWhole(context, *plan, finding->signature, runs);
  if (!smaller) return tl::make_unexpected(smaller.error());
  const auto after = RunPlan(context, *smaller);
  if (!after) return tl::make_unexpected(after.error());
  const Finding made = MakeFinding(context, *smaller, *after);
  const std::string target = out + "/findings/" + made.id;
  std::error_code ignored;
  if (!std::filesystem::exists(target, ignored)) {
    auto written = WriteFinding(target, made, campaign->spec, *smaller, *after, *campaign->store);
    if (!written) return tl::make_unexpected(written.error());
  }
  if (parsed.json) {
    nlohmann::json json = FindingToJson(made);
    json["lost_before"] = LostIn(*before);
    json["lost"] = LostIn(*after);
    std::cout << json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
  } else {
    std::cout << made.id << "  " << made.title << "\n  why     " << made.sentence << "\n  lost    "
              << LostIn(*after) << " of what could be lost, before " << LostIn(*before)
              << "\n  folder  " << target << "\n";
  }
  return kExitOk;
}

int Run(const ParsedCommand& parsed) {
  if (!CanPrint()) return kExitInconclusive;
  const auto runs = ParseNumber(parsed.options["runs"].as<std::string>());
  if (!runs || *runs == 0 || *runs > UINT32_MAX) {
    return UsageError(parsed, "--runs takes a number of at least 1");
  }
  const auto code = ShrinkFinding(parsed, static_cast<unsigned>(*runs));
  return code ? AfterPrinting(*code) : ReportUnusableResult(code.error());
}

}  // namespace

const Command kShrinkCommand{
    "shrink",
    "make a finding smaller",
    "ID [options]",
    "Gives back what the crash lost, one thing after the other, as long as recovery and check "
    "fail\n"
    "in the same way. explore does so with 60 runs for each finding; this goes on until nothing "
    "more\n"
    "can be given back. The result is a finding of its own beside the old one.\n"
    "\n"
    "Exit status: 0 done, 4 the finding does not fail any more.",
    TakesChild::kNone,
    Describe,
    Run};

}  // namespace tornfs::harness
