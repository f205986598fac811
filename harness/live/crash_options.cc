#include "harness/live/crash_options.h"

#include <array>
#include <nlohmann/json.hpp>

namespace tornfs::harness {
namespace {

constexpr std::array<std::string_view, 3> kLoseNames{"all", "none", "random"};

}  // namespace

std::string_view LoseName(Lose lose) { return kLoseNames[static_cast<std::size_t>(lose)]; }

Result<Lose> ParseLose(std::string_view text) {
  for (std::size_t i = 0; i < kLoseNames.size(); ++i) {
    if (text == kLoseNames[i]) return static_cast<Lose>(i);
  }
  return Fail(ErrorCode::kInvalid,
              "cannot lose '" + std::string(text) + "'; known are all, none, random");
}

nlohmann::json ToJson(const CrashOptions& options) {
  nlohmann::json out{
      {"lose", LoseName(options.lose)}, {"tear", TearName(options.tear)}, {"kill", options.kill}};
  if (options.seed) out["seed"] = *options.seed;
  if (!options.plan.empty()) out["plan"] = options.plan;
  return out;
}

Result<CrashOptions> CrashOptionsFromJson(const nlohmann::json& args) {
  CrashOptions options;
  const auto lose = ParseLose(args.value("lose", "all"));
  if (!lose) return tl::make_unexpected(lose.error());
  const auto tear = ParseTear(args.value("tear", "page"));
  if (!tear) return tl::make_unexpected(tear.error());
  options.lose = *lose;
  options.tear = *tear;
  if (const auto seed = args.find("seed"); seed != args.end()) {
    if (!seed->is_number_unsigned()) return Fail(ErrorCode::kInvalid, "\"seed\" is no number");
    options.seed = seed->get<std::uint64_t>();
  }
  options.plan = args.value("plan", "");
  options.kill = args.value("kill", false);
  return options;
}

}  // namespace tornfs::harness
