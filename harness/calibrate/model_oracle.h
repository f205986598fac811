// The persistence models as oracle: a program is run through the engine in memory, and every state
// that a power loss may leave between its steps is enumerated.
#pragma once

#include <string>
#include <vector>

#include "common/result.h"
#include "fusefs/core/model.h"
#include "harness/calibrate/oracle.h"
#include "harness/calibrate/program.h"

namespace tornfs::harness {

// What `model` allows of `program`. Not known where the program has steps that models say nothing
// of, or where there are too many states to list.
// Errors: kInvalid for a program that fails even without a crash.
[[nodiscard]] Result<AllowedSet> AllowedBy(const Model& model, const CalibrationProgram& program);

// Fills in the rules of those outcomes whose `wanted` is set: the first rule of the model that,
// given another answer, would not allow the outcome, with its tag.
void NameRules(const Model& model, const CalibrationProgram& program,
               const std::vector<bool>& wanted, AllowedSet& allowed);

}  // namespace tornfs::harness
