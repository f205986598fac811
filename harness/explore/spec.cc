#include "harness/explore/spec.h"

#include <array>
#include <nlohmann/json.hpp>

namespace tornfs::harness {
namespace {

constexpr std::array<std::string_view, 3> kStrategies{"lazy", "systematic", "random"};

}  // namespace

std::string_view StrategyName(Strategy strategy) {
  return kStrategies[static_cast<std::size_t>(strategy)];
}

Result<Strategy> ParseStrategy(std::string_view text) {
  for (std::size_t i = 0; i < kStrategies.size(); ++i) {
    if (kStrategies[i] == text) return static_cast<Strategy>(i);
  }
  return Fail(ErrorCode::kInvalid,
              "unknown strategy '" + std::string(text) + "'; known are lazy, systematic, random");
}

Result<const Model*> ModelOf(const ExploreSpec& spec) {
  return spec.model_text.empty() ? FindModel(spec.model) : AddModel(spec.model_text, spec.model);
}

nlohmann::json SpecToJson(const ExploreSpec& spec) {
  return {{"workload", spec.workload},
          {"setup", spec.setup},
          {"recover", spec.recover},
          {"check", spec.check},
          {"import", spec.import_directory},
          {"at", spec.mount_path},
          {"origin", spec.origin},
          {"user", spec.user},
          {"model", spec.model},
          {"model_text", spec.model_text},
          {"tear", TearName(spec.tear)},
          {"kill", spec.kill},
          {"every_op", spec.every_op},
          {"depth", spec.depth},
          {"strategy", StrategyName(spec.strategy)},
          {"audit", spec.audit},
          {"seed", spec.seed},
          {"states_per_window", spec.states_per_window},
          {"timeout_ms", spec.timeout.count()}};
}

Result<ExploreSpec> SpecFromJson(const nlohmann::json& json) {
  ExploreSpec spec;
  try {
    json.at("workload").get_to(spec.workload);
    json.at("setup").get_to(spec.setup);
    json.at("recover").get_to(spec.recover);
    json.at("check").get_to(spec.check);
    json.at("import").get_to(spec.import_directory);
    json.at("at").get_to(spec.mount_path);
    json.at("origin").get_to(spec.origin);
    json.at("user").get_to(spec.user);
    json.at("model").get_to(spec.model);
    spec.model_text = json.value("model_text", "");
    json.at("kill").get_to(spec.kill);
    json.at("every_op").get_to(spec.every_op);
    json.at("depth").get_to(spec.depth);
    json.at("seed").get_to(spec.seed);
    json.at("states_per_window").get_to(spec.states_per_window);
    json.at("audit").get_to(spec.audit);
    auto strategy = ParseStrategy(json.at("strategy").get<std::string>());
    if (!strategy) return tl::make_unexpected(strategy.error());
    spec.strategy = *strategy;
    spec.timeout = std::chrono::milliseconds(json.at("timeout_ms").get<std::int64_t>());
    auto tear = ParseTear(json.at("tear").get<std::string>());
    if (!tear) return tl::make_unexpected(tear.error());
    spec.tear = *tear;
  } catch (const nlohmann::json::exception& error) {
    return Fail(ErrorCode::kCorrupt, std::string("not an exploration: ") + error.what());
  }
  return spec;
}

}  // namespace tornfs::harness
