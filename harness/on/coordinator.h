// Tries crashes in several processes, and puts together what they came to.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/result.h"
#include "harness/on/campaign.h"
#include "harness/on/plan.h"

namespace tornfs::harness {

struct OnRunOptions {
  unsigned jobs = 1;
  std::optional<std::chrono::milliseconds> budget;
  bool progress = true;  // On standard error.
};

// Crashes that fail alike.
struct OnKind {
  std::size_t plan = 0;  // Of those tried the one that lost the least, by number.
  std::string title;
  std::uint64_t images = 0;
};

struct OnOutcome {
  std::vector<OnPlan> plans;            // To be tried.
  std::map<std::string, OnKind> kinds;  // By signature.
  std::uint64_t tried = 0;
  std::uint64_t violations = 0;
  std::uint64_t unmounted = 0;  // The kernel did not take them; not judged.
  std::string unmounted_why;    // The first reported.
  std::uint64_t cannot_judge = 0;
  std::string cannot_judge_why;
  bool interrupted = false;
  bool out_of_time = false;
  std::optional<Error> error;  // A worker could not go on.
  std::chrono::milliseconds elapsed{0};

  [[nodiscard]] bool unfinished() const { return interrupted || out_of_time || error; }
};

// Tries every plan, in order, as far as the budget goes. None of the workers, their mounts and loop
// devices is left when it returns. Requires a single-threaded process and CatchInterrupts().
// Errors: kIo.
[[nodiscard]] Result<OnOutcome> TryCrashes(const OnCampaign& campaign, const OnRunOptions& options);

}  // namespace tornfs::harness
