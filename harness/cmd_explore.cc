// tornfs explore: record once, crash everywhere.
#include <unistd.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "common/fd.h"
#include "common/log.h"
#include "harness/commands.h"
#include "harness/cpu.h"
#include "harness/explore/interrupt.h"
#include "harness/explore/out_directory.h"
#include "harness/explore/results.h"
#include "harness/explore/summary.h"
#include "harness/explore_on.h"
#include "harness/explore_request.h"
#include "harness/printing.h"
#include "harness/sandbox.h"

namespace tornfs::harness {
namespace {

int ExitFor(const Error& error) {
  LogError(error.Message());
  if (error.code == ErrorCode::kMissing) return kExitMissing;
  const bool refused = error.code == ErrorCode::kInvalid || error.code == ErrorCode::kBusy;
  return refused ? kExitUsage : kExitInconclusive;
}

// Records, or looks at the ends of what was recorded, in this process, on a stage that is gone when
// this returns: workers are forked later.
Result<std::optional<RecordFailure>> RecordCampaign(Campaign& campaign) {
  if (auto made = MakeDirectories(campaign.spec.mount_path); !made) {
    return tl::make_unexpected(made.error());
  }
  if (MayUseNamespaces()) {
    if (auto entered = EnterPrivateNamespaces(); !entered) {
      return tl::make_unexpected(entered.error());
    }
  }
  CatchInterrupts();
  const std::vector<int> cores = AvailableCores();
  StageOptions options = campaign.Options(cores.front());
  options.watch_outside = options.read_only_outside;
  auto stage = Stage::Open(*campaign.store, *campaign.model, options);
  if (!stage) return tl::make_unexpected(stage.error());
  std::optional<RecordFailure> failure;
  const bool known = campaign.workload != nullptr;
  if (known && campaign.uses_mappings) (*stage)->PullMappings();
  const auto done =
      known ? CheckEnds(campaign, **stage, failure) : Record(campaign, **stage, failure);
  if (!done) return tl::make_unexpected(done.error());
  return failure;
}

int Explore(const ParsedCommand& parsed, ExploreRequest request) {
  auto campaign =
      request.from ? CampaignOf(std::move(*request.from), request.spec) : Prepare(request.spec);
  if (!campaign) return UsageError(parsed, campaign.error().Message());
  const auto lock = PrepareOut(request.out);
  if (!lock) return ExitFor(lock.error());
  auto failure = RecordCampaign(*campaign);
  if (!failure) return ExitFor(failure.error());
  if (*failure) {
    (void)WriteAll(STDERR_FILENO, (*failure)->output);
    LogError((*failure)->what);
    return kExitInconclusive;
  }
  if (auto saved = SaveCampaign(*campaign, request.out + "/trace"); !saved) {
    return ExitFor(saved.error());
  }
  if (!parsed.json) {
    LogInfo((request.from ? "read " : "recorded ") +
            std::to_string(campaign->workload->ops.size()) + " ops and " +
            std::to_string(campaign->workload->promises.size()) + " promises; exploring with " +
            std::to_string(request.coordinator.jobs) + " worker(s)");
  }
  auto outcome = Coordinate(*campaign, request.coordinator);
  if (!outcome) return ExitFor(outcome.error());
  if (auto written = WriteResults(*campaign, *outcome, request.out); !written) {
    return ExitFor(written.error());
  }
  if (parsed.json) {
    const auto replace = nlohmann::json::error_handler_t::replace;
    std::cout << StatsJson(*campaign, *outcome).dump(-1, ' ', false, replace) << "\n";
  } else {
    std::cout << SummaryText(*campaign, *outcome, request.out);
  }
  const bool missing = outcome->error && outcome->error->code == ErrorCode::kMissing;
  return AfterPrinting(missing ? kExitMissing : ExitCodeOf(*outcome));
}

int Run(const ParsedCommand& parsed) {
  if (!CanPrint()) return kExitInconclusive;
  auto request = ParseExplore(parsed);
  if (request && request->on) return ExploreOn(parsed, std::move(*request));
  if (request) return Explore(parsed, std::move(*request));
  const bool usage =
      request.error().code == ErrorCode::kInvalid || request.error().code == ErrorCode::kNotFound;
  return usage ? UsageError(parsed, request.error().Message()) : ExitFor(request.error());
}

}  // namespace

const Command kExploreCommand{
    "explore",
    "run a workload once, then try its recovery after every crash the model allows",
    "[options] [--check CMD] -- WORKLOAD... | --from TRACE [options]",
    "Records WORKLOAD on a fresh mount. Every line it prints is a promise, at its place among the\n"
    "ops. Then, at every crash point and for the states that the persistence model allows there,\n"
    "runs recovery and check on the tree the crash left, with the promises made before the crash\n"
    "in the file that {promises} and TORNFS_PROMISES name.\n"
    "\n"
    "With neither --check nor --recover every state is held against what the workload did itself:\n"
    "a file that it replaced is as it was or as it became, and what it printed is true.\n"
    "\n"
    "--from explores a recording that an earlier exploration left, under the options given now "
    "and\n"
    "else under those of then. --shard splits one trace over machines; `tornfs merge` puts the\n"
    "results together. TEST_TOTAL_SHARDS and TEST_SHARD_INDEX do the same as --shard.\n"
    "\n"
    "--on FS runs the workload on a real filesystem of this kernel, on a device that tornfs "
    "serves\n"
    "and records, and tries what the device may hold after a power loss: each image is mounted,\n"
    "which replays the filesystem's journal, and put to recovery and check. That samples; it "
    "needs\n"
    "root, loop devices and the mkfs of FS.\n"
    "\n"
    "Exit status: 0 no violation, 1 violation, 2 usage, 3 inconclusive, 77 no FUSE, or what --on\n"
    "needs is missing.",
    TakesChild::kOptional,
    DescribeExplore,
    Run};

}  // namespace tornfs::harness
