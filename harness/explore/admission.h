// Which persistence models allow the state that a finding is about.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/explore/plan_run.h"

namespace tornfs::harness {

// Names of the models, weakest first, under which the same ops can leave the same tree at the same
// crash point. For a plan of several crashes, only `context.model` itself: what the earlier crashes
// would have led to under another model is not known.
[[nodiscard]] std::vector<std::string> AdmittedBy(const PlanContext& context, const Plan& plan,
                                                  const PlanRun& run);

// What op of `seen` is called in the other history.
using Renumber = std::function<OpNumber(OpNumber)>;

// Whether `window`, of another history of the same effects or of the same under another model, has
// a legal choice that keeps what `seen` kept and leaves the tree with the visible digest `state`.
[[nodiscard]] bool Admits(const Window& window, const PowerLossSeen& seen, const Digest& state,
                          const ContentStore& store, const Renumber& renumber);

}  // namespace tornfs::harness
