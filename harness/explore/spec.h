// ExploreSpec: what `tornfs explore` was asked for, complete enough to do it again.
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "fusefs/core/model.h"

namespace tornfs::harness {

enum class Strategy : std::uint8_t {
  kLazy,        // Every state that recovery or check could tell apart; systematic where that fails.
  kSystematic,  // Every state of small windows; families of states, then samples, of large ones.
  kRandom,      // Samples only.
};

struct ExploreSpec {
  std::vector<std::string> workload;
  std::string setup;  // CMD strings; empty: none.
  std::string recover;
  std::string check;
  std::string import_directory;
  std::string mount_path;  // Where the world appears; the same in every run.
  std::string origin;      // The caller's working directory.
  std::string user;        // Empty: the caller.
  std::string model = "posix";
  std::string model_text;  // Of the user's own model; empty for a built-in one.
  Tear tear = Tear::kPage;
  bool kill = false;      // --faults kill,power
  bool every_op = false;  // --crash-points all
  unsigned depth = 1;     // Power losses in a row.
  Strategy strategy = Strategy::kLazy;
  std::uint64_t seed = 1;
  std::uint64_t states_per_window = 256;
  std::uint64_t audit =
      100;  // Of 10,000 results known without a run, so many are run all the same.
  std::chrono::milliseconds timeout{60'000};  // Of each run.
};

// The model that `spec` names. Errors: kInvalid.
[[nodiscard]] Result<const Model*> ModelOf(const ExploreSpec& spec);
[[nodiscard]] std::string_view StrategyName(Strategy strategy);
// Errors: kInvalid, with the known names in the text.
[[nodiscard]] Result<Strategy> ParseStrategy(std::string_view text);

[[nodiscard]] nlohmann::json SpecToJson(const ExploreSpec& spec);
// Errors: kCorrupt.
[[nodiscard]] Result<ExploreSpec> SpecFromJson(const nlohmann::json& json);

}  // namespace tornfs::harness
