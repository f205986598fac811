// Which persistence models allow the state that a finding is about.
#pragma once

#include <string>
#include <vector>

#include "harness/explore/plan_run.h"

namespace tornfs::harness {

// Names of the models, weakest first, under which the same ops can leave the same tree at the same
// crash point. For a plan of several crashes, only `context.model` itself: what the earlier crashes
// would have led to under another model is not known.
[[nodiscard]] std::vector<std::string> AdmittedBy(const PlanContext& context, const Plan& plan,
                                                  const PlanRun& run);

}  // namespace tornfs::harness
