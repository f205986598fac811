// The command line of `tornfs explore` as a value.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/cli.h"
#include "harness/explore/campaign_trace.h"
#include "harness/explore/coordinator.h"
#include "harness/on/spec.h"

namespace tornfs::harness {

struct ExploreRequest {
  ExploreSpec spec;
  CoordinatorOptions coordinator;
  std::string out;
  std::optional<LoadedTrace> from;  // Instead of running a workload.
  std::optional<OnSpec> on;         // On a real filesystem; its `explore` is not filled in.
};

void DescribeExplore(boost::program_options::options_description& options,
                     std::vector<Positional>& positionals);

// Reads the trace of --from, too. Errors: kInvalid for what the user wrote;
// those of LoadTrace.
[[nodiscard]] Result<ExploreRequest> ParseExplore(const ParsedCommand& parsed);

}  // namespace tornfs::harness
