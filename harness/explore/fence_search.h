// Which barrier would keep a failure from happening.
//
// Suggested from the recording alone, as Ferrite does for litmus programs (Bornholt et al., ASPLOS
// 2016): a barrier is put into the history behind what was lost and wherever the program does the
// same, the history is made again under the model, and the suggestion counts if then none of the
// failing states is legal at any crash point with the same promises. No program is run.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/explore/campaign.h"
#include "harness/explore/fence.h"
#include "harness/explore/plan.h"

namespace tornfs::harness {

// The cheapest barrier (fdatasync before fsync, a file before a directory, early before late) that
// leaves none of the states legal that `failing` lead to; none if no single one does, or where the
// crash is not a single power loss of the workload. `finding` is the plan whose losses the barrier
// is to follow, one of `failing`.
// Cost: for each candidate, of which there are at most a dozen, that of making the history again
// and of one window per crash point.
[[nodiscard]] std::optional<Fence> SuggestFence(const Campaign& campaign, const Plan& finding,
                                                const std::vector<Plan>& failing);

// An added barrier: an op of `kind` on `ino` behind op `after`.
struct AddedBarrier {
  OpNumber after = 0;
  OpKind kind = OpKind::kFsync;
  Ino ino = kNoIno;
  std::string path;
};
// `recorded` with `barriers`, rising, made again under `model`. Ops behind an added one have higher
// numbers than before. The contents of both are in `store`.
[[nodiscard]] std::shared_ptr<const Recording> WithBarriers(
    const Recording& recorded, const std::vector<AddedBarrier>& barriers, const Model& model,
    ContentStore& store);

}  // namespace tornfs::harness
