#include "harness/on/finding.h"

#include <sys/stat.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/fd.h"
#include "harness/explore/outcome.h"
#include "harness/explore/repro_script.h"
#include "harness/on/loss.h"
#include "harness/report/report.h"

namespace tornfs::harness {
namespace {

// With the run that the folder is written from.
constexpr std::uint64_t kTimesAgain = 3;
// Paths that a sentence names.
constexpr std::size_t kPathsMost = 3;

std::string Count(std::size_t count, const std::string& one) {
  return std::to_string(count) + " " + one + (count == 1 ? "" : one.ends_with("sh") ? "es" : "s");
}

// "promise 3 (`ack c`)".
std::string Promise(const OnRecording& recording, std::size_t number) {
  return "promise " + std::to_string(number) + " (`" + PlainLine(recording.promises[number - 1]) +
         "`)";
}

std::string Moment(const OnRecording& recording, const OnPlan& plan) {
  const std::size_t promised = plan.promises;
  std::string when = promised > 0                 ? "after " + Promise(recording, promised)
                     : recording.promises.empty() ? "during the workload"
                                                  : "before the first promise";
  if (plan.image.until == IoEvent::kNever) return when + ", when everything had been written";
  const bool before_promise = promised > 0 && promised < recording.promises.size();
  return when + (before_promise ? " and before the next" : "");
}

std::string Differences(const std::string& folder) {
  const auto differences = TreeDifferences(folder);
  std::string text;
  for (std::size_t i = 0; i < differences.size() && i < kPathsMost; ++i) {
    const auto& each = differences[i];
    text += (i == 0 ? "; compared with the end of the workload `" : ", `") + PlainLine(each.path) +
            "` is " + each.after + " instead of " + each.before;
  }
  if (differences.size() > kPathsMost) {
    text += " and " + Count(differences.size() - kPathsMost, "other path") + " differ";
  }
  return text;
}

Status WriteFiles(const std::string& folder, const OnCampaign& campaign,
                  const OnRecording& recording, const OnPlan& plan, const OnFinding& found,
                  const std::string& log) {
  nlohmann::json json = FindingToJson(found.finding);
  json["exploration"] = SpecToJson(campaign.spec.explore);
  json["on"] = campaign.spec.filesystem.name;
  json["again"] = found.again;
  json["reproduced"] = found.reproduced;
  const auto replace = nlohmann::json::error_handler_t::replace;
  const std::pair<const char*, std::string> files[] = {
      {"finding.json", json.dump(2, ' ', false, replace) + "\n"},
      {"plan.txt", found.finding.plan + "\n"},
      {"explanation.txt", found.finding.sentence + "\n"},
      {"timeline.txt", OnTimeline(recording, plan)},
      {"promises.txt", PromiseText(recording, plan.promises)},
      {"check.log", log},
      {"repro.sh", ReproScript(found.finding.id, campaign.spec.explore)},
  };
  for (const auto& [name, text] : files) {
    if (auto written = WriteFile(folder + "/" + name, text); !written) return written;
  }
  if (::chmod((folder + "/repro.sh").c_str(), 0755) != 0) return IoError(errno, folder);
  return {};
}

Result<OnFinding> WriteOne(const OnCampaign& campaign, const std::string& signature,
                           const OnKind& kind, const OnPlan& plan, OnStage& stage,
                           const std::string& findings_folder) {
  const auto recording = RecordingOf(campaign, plan);
  if (!recording) return tl::make_unexpected(recording.error());
  OnFinding found;
  found.images = kind.images;
  Finding& finding = found.finding;
  finding.signature = signature;
  finding.title = kind.title;
  finding.plan = FormatOnPlan(plan);
  finding.id = "f-" + Hash128(finding.plan + "\n" + signature).Hex().substr(0, 12);
  const std::string folder = findings_folder + "/" + finding.id;
  if (::mkdir(folder.c_str(), 0755) != 0) return IoError(errno, folder);
  const Status copied = stage.CopyWorld(FinalImage((*recording)->device), folder + "/before");
  if (!copied) return tl::make_unexpected(copied.error());
  const DeviceImage image = BuildImage((*recording)->device, plan.image);
  std::string log;
  for (; found.again < kTimesAgain; ++found.again) {
    auto judged = stage.Judge(image, PromiseText(**recording, plan.promises),
                              found.again == 0 ? folder + "/after" : "");
    if (!judged) return tl::make_unexpected(judged.error());
    const Verdict& verdict = judged->verdict;
    const bool same = !verdict.good() && verdict.Signature() == signature;
    found.reproduced += same ? 1 : 0;
    if (!same && found.again > 0) continue;
    finding.phase = verdict.phase;
    finding.status = verdict.status;
    log = verdict.output;
  }
  finding.sentence = OnSentence(campaign, **recording, plan) + Differences(folder);
  const Status written = WriteFiles(folder, campaign, **recording, plan, found, log);
  if (!written) return tl::make_unexpected(written.error());
  return found;
}

}  // namespace

std::string OnSentence(const OnCampaign& campaign, const OnRecording& recording,
                       const OnPlan& plan) {
  const BlockLoss loss = LossOf(recording, plan.image);
  std::string text = "on " + campaign.spec.filesystem.name + " the power was cut " +
                     Moment(recording, plan) + ", " + Count(loss.flushes, "flush") +
                     " after the start; ";
  if (loss.lost == 0) {
    return text +
           "the device lost nothing that it had been sent, so what is missing was still in memory";
  }
  text += "of " + Count(loss.open, "block write") + " that no flush covered ";
  text += std::to_string(loss.lost) + (loss.lost == 1 ? " was lost" : " were lost");
  if (loss.torn > 0) text += ", " + std::to_string(loss.torn) + " of them in part";
  return text + " (" + Count(loss.lost_bytes, "byte") + ")";
}

std::string OnTimeline(const OnRecording& recording, const OnPlan& plan) {
  const std::vector<ChosenWrite> kept = WritesOf(recording.device, plan.image);
  std::string text;
  std::size_t next = 0;
  std::size_t flushes = 0;
  for (std::size_t i = 0; i < recording.device.log.size(); ++i) {
    const IoEvent& event = recording.device.log[i];
    const bool chosen = next < kept.size() && kept[next].event == i;
    const bool torn = chosen && !kept[next].sectors.empty();
    if (chosen) ++next;
    if (event.issued >= plan.image.until && !chosen) continue;
    switch (event.kind) {
      case IoEvent::Kind::kMark:
        text += "     promised: " + PlainLine(recording.promises[event.mark / 2]) + "\n";
        break;
      case IoEvent::Kind::kFlush:
        // The crash came before the end of one that is not among those answered.
        if (plan.image.flush == kNoFlush || i > plan.image.flush) break;
        text += "#" + std::to_string(i) + " flush " + std::to_string(++flushes) + "\n";
        break;
      case IoEvent::Kind::kWrite:
        text += std::string(torn     ? "     LOST in part"
                            : chosen ? "     kept"
                                     : "     LOST") +
                "  #" + std::to_string(i) + " write " + std::to_string(event.data.size()) +
                " B at " + std::to_string(event.offset) + "\n";
        break;
    }
  }
  return text + "---- power lost\n";
}

Result<std::vector<OnFinding>> WriteOnFindings(const OnCampaign& campaign, const OnOutcome& outcome,
                                               OnStage& stage, const std::string& findings_folder) {
  std::vector<OnFinding> findings;
  for (const auto& [signature, kind] : outcome.kinds) {
    if (findings.size() == kMaxKinds) break;
    auto one =
        WriteOne(campaign, signature, kind, outcome.plans[kind.plan], stage, findings_folder);
    if (!one) return tl::make_unexpected(one.error());
    findings.push_back(std::move(*one));
  }
  return findings;
}

}  // namespace tornfs::harness
