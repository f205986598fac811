#include "harness/explore/crash_base.h"

#include <algorithm>

namespace tornfs::harness {
namespace {

Nanoseconds TimeAfter(const Recording& workload) {
  return workload.ops.empty() ? workload.start.time : workload.ops.back().time;
}

}  // namespace

Base AfterPowerLoss(const Recording& workload, const Recording& history, OpNumber cut, Tree state) {
  Base base = history.AfterPowerLoss(std::move(state));
  base.time = TimeAfter(workload);
  if (&history == &workload) return base;
  base.next_ino = history.start.next_ino;
  for (const Recording::Birth& birth : history.births) {
    if (birth.op < cut) base.next_ino = std::max(base.next_ino, birth.ino + 1);
  }
  return base;
}

Base AfterKill(const Recording& workload, OpNumber cut) {
  Base base = workload.BaseAt(cut);
  base.time = TimeAfter(workload);
  base.next_ino = workload.next_ino;
  return base;
}

}  // namespace tornfs::harness
