// PlanRun: carries out a plan again, step by step, and keeps what a person wants to see of it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fusefs/core/window.h"
#include "harness/explore/plan.h"
#include "harness/explore/prober.h"
#include "harness/oracle/oracle.h"

namespace tornfs::harness {

// One power loss of a plan: what could be lost there, and what was.
struct PowerLossSeen {
  std::size_t step = 0;
  Window window;
  Choice choice;
};

struct PlanRun {
  Verdict verdict;
  Situation crashed;  // After the last crash, before recovery.
  std::vector<PowerLossSeen> power_losses;
  // The histories the steps happened in: the workload's, then that of each recovery.
  std::vector<std::shared_ptr<const Recording>> histories;

  // The op of that number, as it was when the last crash came; null if there is none. A recovery
  // goes on counting where the crash came, so its ops hide those that the crash cut off.
  [[nodiscard]] const Op* FindOp(OpNumber number) const;
};

// What is needed to carry out plans.
struct PlanContext {
  std::shared_ptr<const Recording> workload;
  const Model& model;
  Tear tear;
  ContentStore& store;
  Prober& prober;
  const Oracle* oracle = nullptr;  // Judges in the place of the prober; null: none.
};

// Errors: kInvalid if the plan does not fit the history (a cut or a choice that does not exist
// there), and those of the stage.
[[nodiscard]] Result<PlanRun> RunPlan(const PlanContext& context, const Plan& plan);

// A plan that fails in the same way with as little lost as could be found: every lost node whose
// return keeps the failure is given back, from the last crash to the first. At most `runs` tries.
[[nodiscard]] Result<Plan> Shrink(const PlanContext& context, const Plan& plan,
                                  const std::string& signature, unsigned runs);

}  // namespace tornfs::harness
