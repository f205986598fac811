// Coordinator: spreads the units of a campaign over worker processes, shows how far they are, and
// puts their findings together.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "harness/explore/campaign.h"
#include "harness/explore/outcome.h"

namespace tornfs::harness {

struct CoordinatorOptions {
  unsigned jobs = 1;
  std::optional<std::chrono::milliseconds> budget;
  std::string findings_folder;  // Exists.
  bool progress = true;         // On standard error.
  Shard shard;                  // Other units are left out.
};

// Forks the workers and waits for them; none is left when it returns. Should lazy exploration
// turn out not to hold for the programs, everything is done again systematically.
// Requires a single-threaded process without an open stage. Errors: kIo.
[[nodiscard]] Result<ExploreOutcome> Coordinate(const Campaign& campaign,
                                                const CoordinatorOptions& options);

}  // namespace tornfs::harness
