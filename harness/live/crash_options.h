// CrashOptions: what a live power loss is to take, as asked for on a command line or over the
// control socket.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "common/result.h"
#include "fusefs/core/model.h"

namespace tornfs::harness {

// Which pending effects go.
enum class Lose : std::uint8_t {
  kAll,     // Whatever no barrier has made durable.
  kNone,    // Nothing: a clean stop.
  kRandom,  // A seeded choice among the legal ones.
};

[[nodiscard]] std::string_view LoseName(Lose lose);
// Errors: kInvalid, with the known names in the text.
[[nodiscard]] Result<Lose> ParseLose(std::string_view text);

struct CrashOptions {
  Lose lose = Lose::kAll;
  std::optional<std::uint64_t> seed;  // For kRandom; absent: one is drawn and reported.
  Tear tear = Tear::kPage;
  std::string plan;   // Window::Token of an earlier crash; overrules `lose`.
  bool kill = false;  // End the processes that use the mount first.
};

[[nodiscard]] nlohmann::json ToJson(const CrashOptions& options);
// Takes the members "lose", "seed", "tear", "plan" and "kill" of `args`, each optional.
// Errors: kInvalid.
[[nodiscard]] Result<CrashOptions> CrashOptionsFromJson(const nlohmann::json& args);

}  // namespace tornfs::harness
