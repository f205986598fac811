#include "fusefs/core/crash_points.h"

#include <algorithm>
#include <set>

namespace tornfs {
namespace {

// The promises made before the first of those that stand at `cut`.
std::size_t PromisesUpTo(const Recording& recording, OpNumber cut) {
  const auto first =
      std::lower_bound(recording.promises.begin(), recording.promises.end(), cut,
                       [](const Promise& promise, OpNumber at) { return promise.cut < at; });
  return static_cast<std::size_t>(first - recording.promises.begin());
}

}  // namespace

std::vector<CrashPoint> PowerPoints(const Recording& recording, PromisesApart apart) {
  std::set<CrashPoint> points;
  const auto add = [&](OpNumber cut) { points.insert({cut, recording.PromisesBefore(cut)}); };
  for (const OpNumber by : recording.durable_by) {
    if (by != kNever && by >= recording.start.next_op) add(by);
  }
  for (std::size_t i = 0; i < recording.promises.size(); ++i) {
    const OpNumber cut = recording.promises[i].cut;
    points.insert({cut, apart == PromisesApart::kEach ? i : PromisesUpTo(recording, cut)});
  }
  add(recording.end());
  return {points.begin(), points.end()};
}

std::vector<CrashPoint> KillPoints(const Recording& recording) {
  std::vector<CrashPoint> points;
  for (const Op& op : recording.ops) {
    points.push_back({op.number + 1, recording.PromisesBefore(op.number + 1)});
  }
  return points;
}

std::vector<CrashPoint> AllPoints(const Recording& recording) {
  std::set<CrashPoint> points;
  for (OpNumber cut = recording.start.next_op; cut <= recording.end(); ++cut) {
    for (std::size_t n = PromisesUpTo(recording, cut); n <= recording.PromisesBefore(cut); ++n) {
      points.insert({cut, n});
    }
  }
  return {points.begin(), points.end()};
}

}  // namespace tornfs
