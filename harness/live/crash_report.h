// CrashReport: what a live power loss did.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "fusefs/core/engine.h"
#include "fusefs/core/trigger.h"
#include "harness/live/crash_options.h"

namespace tornfs::harness {

// The request at which a trigger fired.
struct CrashPoint {
  When when = When::kBefore;
  OpKind kind = OpKind::kWrite;
  OpNumber op = 0;
  std::string path;
  std::string to;
};

struct CrashReport {
  std::uint64_t epoch = 0;  // The one it began.
  OpNumber ops = 0;         // Served before it.
  std::optional<CrashPoint> point;
  std::size_t nodes = 0;  // Pending effects, as cells and groups (fusefs/core/window.h).
  std::size_t lost = 0;
  std::size_t torn = 0;  // Of the lost ones.
  std::string plan;      // Window::Token
  std::optional<std::uint64_t> seed;
  Lose lose = Lose::kAll;
  bool by_plan = false;
  Tear tear = Tear::kPage;
  std::size_t killed = 0;  // Processes.
};

// Picks what survives, and loses the rest: `engine` has the crash state afterwards. Fills what of
// the report concerns the choice. Errors: kInvalid for a plan that does not fit; nothing is lost
// then.
[[nodiscard]] Result<CrashReport> LosePower(Engine& engine, const CrashOptions& options);

// "crashed before op 41 (fsync j/frontier): 5 of 12 pending effects lost (plan TOKEN, seed N)"
[[nodiscard]] std::string Describe(const CrashReport& report);
[[nodiscard]] nlohmann::json ToJson(const CrashReport& report);

}  // namespace tornfs::harness
