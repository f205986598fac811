// CrashBase: where the world goes on after a crash.
//
// New inodes and the clock go on from the end of the recorded workload wherever it was cut, and
// inodes in a later history from what that had made by then: programs that find equal trees then
// do equal things.
#pragma once

#include "fusefs/core/recording.h"

namespace tornfs::harness {

// After a power loss at `cut` of `history`, which is `workload` itself or what came after a crash
// of it, and which left `state`.
[[nodiscard]] Base AfterPowerLoss(const Recording& workload, const Recording& history, OpNumber cut,
                                  Tree state);

// After a kill at `cut` of the workload: nothing is lost, and what was pending still is.
[[nodiscard]] Base AfterKill(const Recording& workload, OpNumber cut);

}  // namespace tornfs::harness
