// Plan: a sequence of crashes, as a value. With the trace of a workload it says exactly which state
// a finding is about.
//
// As text: "t1-<history>/k12.3/p15.3.9:2,4-5;7@100" - the version, the first 16 digits of the
// history's name, then one word per crash: k CUT.PROMISES for a kill, p CUT.PROMISES.CHOICE for a
// power loss, where CHOICE is a Window token. Each step but the first happens in the recovery after
// the one before it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "fusefs/core/crash_points.h"

namespace tornfs::harness {

struct Step {
  enum class Kind : std::uint8_t { kKill, kPower };
  Kind kind = Kind::kPower;
  CrashPoint point;
  std::string choice;  // Power losses: a token of the window there.
  friend bool operator==(const Step&, const Step&) = default;
};

struct Plan {
  std::string history;  // 16 hex digits.
  std::vector<Step> steps;
  friend bool operator==(const Plan&, const Plan&) = default;
};

[[nodiscard]] std::string FormatPlan(const Plan& plan);
// Errors: kInvalid.
[[nodiscard]] Result<Plan> ParsePlan(std::string_view text);

}  // namespace tornfs::harness
