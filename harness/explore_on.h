// `explore --on FS` and `replay` of what it found.
#pragma once

#include <cstdint>
#include <string>

#include "common/result.h"
#include "harness/cli.h"
#include "harness/explore_request.h"

namespace tornfs::harness {

// Carries out a request with `on` set. Returns the exit code.
[[nodiscard]] int ExploreOn(const ParsedCommand& parsed, ExploreRequest request);

// What is to be carried out again.
struct OnReplay {
  std::string out;        // Of the exploration.
  std::string plan;       // As text.
  std::string signature;  // Of the failure expected; empty: any.
  std::uint64_t times = 1;
  std::string image;  // A file that gets the device after the crash; empty: none.
};
// Returns the exit code. Errors: as of LoadOnCampaign and OnStage; kInvalid for a plan that the
// trace does not fit.
[[nodiscard]] Result<int> ReplayOn(const ParsedCommand& parsed, const OnReplay& replay);

}  // namespace tornfs::harness
