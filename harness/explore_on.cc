#include "harness/explore_on.h"

#include <iostream>
#include <nlohmann/json.hpp>

#include "common/fd.h"
#include "common/log.h"
#include "harness/cpu.h"
#include "harness/device/image_file.h"
#include "harness/explore/interrupt.h"
#include "harness/explore/out_directory.h"
#include "harness/failure.h"
#include "harness/on/coordinator.h"
#include "harness/on/finding.h"
#include "harness/on/repeated_input.h"
#include "harness/on/stage.h"
#include "harness/on/summary.h"
#include "harness/on/trace.h"
#include "harness/printing.h"
#include "harness/report/report.h"
#include "harness/sandbox.h"

namespace tornfs::harness {
namespace {

// Apart from those of workers, which are counted from 0.
constexpr unsigned kOwnStage = 1000;

std::string Dump(const nlohmann::json& json, int indent) {
  return json.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

Result<std::unique_ptr<OnStage>> OwnStage(const OnCampaign& campaign) {
  return OnStage::Create(campaign.spec, kOwnStage, AvailableCores().front());
}

// In this process, on a stage that is gone when this returns: workers are forked later.
Result<std::optional<RecordFailure>> RecordHere(OnCampaign& campaign, const RepeatedInput& input) {
  auto stage = OwnStage(campaign);
  if (!stage) return tl::make_unexpected(stage.error());
  std::optional<RecordFailure> failure;
  const Status recorded = RecordOn(campaign, **stage, input, failure);
  if (!recorded) return tl::make_unexpected(recorded.error());
  return failure;
}

Result<std::vector<OnFinding>> WriteFindings(const OnCampaign& campaign, const OnOutcome& outcome,
                                             const std::string& folder) {
  if (outcome.kinds.empty()) return std::vector<OnFinding>();
  auto stage = OwnStage(campaign);
  if (!stage) return tl::make_unexpected(stage.error());
  return WriteOnFindings(campaign, outcome, **stage, folder);
}

Status WriteOnResults(const std::string& out, const nlohmann::json& stats) {
  const Status written = WriteFile(out + "/stats.json", Dump(stats, 2));
  return written ? WriteReports(out) : written;
}

}  // namespace

int ExploreOn(const ParsedCommand& parsed, ExploreRequest request) {
  OnCampaign campaign{std::move(*request.on), {}, {}};
  campaign.spec.explore = request.spec;
  if (const Status ready = CheckDeviceMachine(campaign.spec.filesystem); !ready) {
    return ReportFailure(parsed, ready.error());
  }
  const auto lock = PrepareOut(request.out);
  if (!lock) return ReportFailure(parsed, lock.error());
  if (const Status entered = EnterPrivateNamespaces(); !entered) {
    return ReportFailure(parsed, entered.error());
  }
  const auto input = RepeatedInput::Take();
  if (!input) return ReportFailure(parsed, input.error());
  CatchInterrupts();
  auto failure = RecordHere(campaign, *input);
  if (!failure) return ReportFailure(parsed, failure.error());
  if (*failure) {
    (void)WriteAll(STDERR_FILENO, (*failure)->output);
    return ReportFailure(parsed, kExitInconclusive, (*failure)->what);
  }
  if (const Status saved = SaveOnCampaign(campaign, request.out + "/trace"); !saved) {
    return ReportFailure(parsed, saved.error());
  }
  const OnRunOptions options{request.coordinator.jobs, request.coordinator.budget, !parsed.json};
  if (!parsed.json) {
    LogInfo("recorded the workload on " + campaign.spec.filesystem.name + " " +
            std::to_string(campaign.recordings.size()) + " times; exploring with " +
            std::to_string(options.jobs) + " worker(s)");
  }
  const auto outcome = TryCrashes(campaign, options);
  if (!outcome) return ReportFailure(parsed, outcome.error());
  const auto findings = WriteFindings(campaign, *outcome, request.coordinator.findings_folder);
  if (!findings) return ReportFailure(parsed, findings.error());
  const nlohmann::json stats = OnStatsJson(campaign, *outcome, *findings);
  if (const Status written = WriteOnResults(request.out, stats); !written) {
    return ReportFailure(parsed, written.error());
  }
  std::cout << (parsed.json ? Dump(stats, -1)
                            : OnSummaryText(campaign, *outcome, *findings, request.out));
  return AfterPrinting(OnExitCode(*outcome));
}

Result<int> ReplayOn(const ParsedCommand& parsed, const OnReplay& replay) {
  const auto campaign = LoadOnCampaign(replay.out + "/trace");
  if (!campaign) return tl::make_unexpected(campaign.error());
  const auto plan = ParseOnPlan(replay.plan);
  if (!plan) return tl::make_unexpected(plan.error());
  const auto recording = RecordingOf(*campaign, *plan);
  if (!recording) return tl::make_unexpected(recording.error());
  const DeviceImage image = BuildImage((*recording)->device, plan->image);
  Status ready = CheckDeviceMachine(campaign->spec.filesystem);
  if (ready && !replay.image.empty()) ready = WriteImageFile(replay.image, image);
  if (ready) ready = EnterPrivateNamespaces();
  if (!ready) return tl::make_unexpected(ready.error());
  CatchInterrupts();
  auto stage = OwnStage(*campaign);
  if (!stage) return tl::make_unexpected(stage.error());
  std::uint64_t same = 0;
  OnVerdict judged;
  for (std::uint64_t i = 0; i < replay.times; ++i) {
    auto one = (*stage)->Judge(image, PromiseText(**recording, plan->promises));
    if (!one) return tl::make_unexpected(one.error());
    judged = std::move(*one);
    if (!judged.mounted) return Fail(ErrorCode::kIo, "the image: " + judged.why_not);
    const bool fails = !judged.verdict.good();
    same += fails && (replay.signature.empty() || judged.verdict.Signature() == replay.signature);
  }
  const std::string sentence = OnSentence(*campaign, **recording, *plan);
  if (parsed.json) {
    std::cout << Dump({{"plan", replay.plan},
                       {"sentence", sentence},
                       {"phase", judged.verdict.phase},
                       {"title", judged.verdict.title},
                       {"status", judged.verdict.status},
                       {"violation", !judged.verdict.good()},
                       {"times", replay.times},
                       {"failed", same}},
                      -1);
  } else {
    std::cout << OnTimeline(**recording, *plan) << judged.verdict.output << "why: " << sentence
              << "\n";
  }
  if (replay.signature.empty()) return same > 0 ? kExitViolation : kExitOk;
  LogInfo("reproduced " + std::to_string(same) + " of " + std::to_string(replay.times));
  return same == replay.times ? kExitViolation : kExitNotReproduced;
}

}  // namespace tornfs::harness
