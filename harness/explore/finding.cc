#include "harness/explore/finding.h"

#include <sys/stat.h>

#include <cerrno>
#include <nlohmann/json.hpp>

#include "common/fd.h"
#include "fusefs/core/host_tree.h"
#include "harness/explore/admission.h"
#include "harness/explore/repro_script.h"

namespace tornfs::harness {
namespace {

nlohmann::json LossToJson(const Loss& loss) {
  return {{"op", loss.op},       {"kind", OpKindName(loss.kind)}, {"path", loss.path},
          {"to", loss.to},       {"whole", loss.whole},           {"size_kept", loss.size_kept},
          {"bytes", loss.bytes}, {"torn_at", loss.torn_at}};
}

Loss LossFromJson(const nlohmann::json& json) {
  Loss loss;
  json.at("op").get_to(loss.op);
  loss.kind = KindOf(json.at("kind").get<std::string>());
  json.at("path").get_to(loss.path);
  json.at("to").get_to(loss.to);
  json.at("whole").get_to(loss.whole);
  json.at("size_kept").get_to(loss.size_kept);
  json.at("bytes").get_to(loss.bytes);
  json.at("torn_at").get_to(loss.torn_at);
  return loss;
}

}  // namespace

Finding MakeFinding(const PlanContext& context, const Plan& plan, const PlanRun& run) {
  Finding finding;
  finding.signature = run.verdict.Signature();
  finding.title = run.verdict.title;
  finding.phase = run.verdict.phase;
  finding.status = run.verdict.status;
  finding.plan = FormatPlan(plan);
  finding.id = "f-" + Hash128(finding.plan + "\n" + finding.signature).Hex().substr(0, 12);
  finding.sentence = Explain(plan, run);
  finding.losses = AllLosses(run);
  finding.models = AdmittedBy(context, plan, run);
  return finding;
}

nlohmann::json FindingToJson(const Finding& finding) {
  nlohmann::json losses = nlohmann::json::array();
  for (const Loss& loss : finding.losses) losses.push_back(LossToJson(loss));
  return {{"id", finding.id},
          {"signature", finding.signature},
          {"title", finding.title},
          {"phase", finding.phase},
          {"status", finding.status},
          {"sentence", finding.sentence},
          {"plan", finding.plan},
          {"losses", std::move(losses)},
          {"models", finding.models},
          {"fence", finding.fence ? FenceToJson(*finding.fence) : nlohmann::json()}};
}

Result<Finding> FindingFromJson(const nlohmann::json& json) {
  Finding finding;
  try {
    json.at("id").get_to(finding.id);
    json.at("signature").get_to(finding.signature);
    json.at("title").get_to(finding.title);
    json.at("phase").get_to(finding.phase);
    json.at("status").get_to(finding.status);
    json.at("sentence").get_to(finding.sentence);
    json.at("plan").get_to(finding.plan);
    json.at("models").get_to(finding.models);
    if (json.contains("fence") && json["fence"].is_object()) {
      finding.fence = FenceFromJson(json["fence"]);
    }
    for (const auto& loss : json.at("losses")) finding.losses.push_back(LossFromJson(loss));
  } catch (const nlohmann::json::exception& error) {
    return Fail(ErrorCode::kCorrupt, std::string("not a finding: ") + error.what());
  }
  return finding;
}

namespace {

std::string FindingFile(const Finding& finding, const ExploreSpec& spec) {
  nlohmann::json json = FindingToJson(finding);
  json["exploration"] = SpecToJson(spec);
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace

Status RewriteFinding(const std::string& directory, const Finding& finding,
                      const ExploreSpec& spec) {
  return WriteFile(directory + "/finding.json", FindingFile(finding, spec));
}

Status WriteFinding(const std::string& directory, const Finding& finding, const ExploreSpec& spec,
                    const Plan& plan, const PlanRun& run, const ContentStore& store) {
  if (::mkdir(directory.c_str(), 0755) != 0) return IoError(errno, directory);
  const std::pair<const char*, std::string> files[] = {
      {"finding.json", FindingFile(finding, spec)}, {"plan.txt", finding.plan + "\n"},
      {"explanation.txt", finding.sentence + "\n"}, {"timeline.txt", Timeline(plan, run)},
      {"promises.txt", run.crashed.promises},       {"check.log", run.verdict.output},
      {"repro.sh", ReproScript(finding.id, spec)},
  };
  for (const auto& [name, text] : files) {
    if (auto written = WriteFile(directory + "/" + name, text); !written) return written;
  }
  if (::chmod((directory + "/repro.sh").c_str(), 0755) != 0) return IoError(errno, directory);
  Tree before = run.crashed.base.durable;
  if (!run.power_losses.empty() && run.power_losses.back().step + 1 == plan.steps.size()) {
    const Window& window = run.power_losses.back().window;
    before = window.State(window.All());
  }
  Tree after = run.crashed.base.durable;
  for (const Effect& effect : run.crashed.base.pending) {
    Apply(effect, after);
    if (run.power_losses.empty()) Apply(effect, before);
  }
  if (auto exported = ExportTree(before, store, directory + "/before"); !exported) return exported;
  return ExportTree(after, store, directory + "/after");
}

}  // namespace tornfs::harness
