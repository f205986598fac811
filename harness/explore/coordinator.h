// Coordinator: spreads the units of a campaign over worker processes, shows how far they are, and
// puts their findings together.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fusefs/core/state_count.h"
#include "harness/explore/campaign.h"
#include "harness/explore/finding.h"

namespace tornfs::harness {

struct ExploreOutcome {
  struct Kind {
    Finding finding;
    std::uint64_t unit = 0;    // The lowest that showed it.
    std::uint64_t order = 0;   // Among the kinds first shown there.
    std::uint64_t states = 0;  // Crash states that fail like this.
  };
  std::map<std::string, Kind> findings;  // By signature.
  std::uint64_t more_kinds = 0;          // Kinds beyond the first kMaxKinds (worker.h).
  std::uint64_t units = 0;               // Done.
  std::uint64_t all_units = 0;
  std::uint64_t states = 0;
  std::uint64_t tried = 0;
  std::uint64_t known = 0;
  // How it was done, and what kept it from being done lazily; empty: nothing.
  Strategy strategy = Strategy::kLazy;
  std::string difference;
  // Of lazy exploration alone. Legal states at the crash points done; those of `uncounted` crash
  // points are too many to be counted.
  BigCount legal;
  std::uint64_t uncounted = 0;
  std::uint64_t leaves = 0;
  std::uint64_t shared = 0;
  std::uint64_t audited = 0;
  std::uint64_t overdecided = 0;
  bool concurrent = false;
  std::uint64_t distinct_good = 0;
  std::uint64_t runs = 0;
  std::uint64_t violations = 0;
  std::uint64_t windows = 0;
  std::uint64_t whole = 0;
  std::uint64_t cannot_judge = 0;
  std::uint64_t stragglers = 0;
  std::uint64_t left_outside = 0;  // Runs that left files in /tmp or /dev/shm.
  std::string cannot_judge_why;
  std::optional<Error> error;  // A worker could not go on.
  bool interrupted = false;    // Ctrl-C or SIGTERM.
  bool out_of_time = false;
  std::chrono::milliseconds elapsed{0};
};

struct CoordinatorOptions {
  unsigned jobs = 1;
  std::optional<std::chrono::milliseconds> budget;
  std::string findings_folder;  // Exists.
  bool progress = true;         // On standard error.
};

// Forks the workers and waits for them; none is left when it returns. Should lazy exploration
// turn out not to hold for the programs, everything is done again systematically.
// Requires a single-threaded process without an open stage. Errors: kIo.
[[nodiscard]] Result<ExploreOutcome> Coordinate(const Campaign& campaign,
                                                const CoordinatorOptions& options);

}  // namespace tornfs::harness
