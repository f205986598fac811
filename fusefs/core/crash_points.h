// Where crashes have to be tried so that none is missed.
//
// Power: before every op that makes something durable, before every line of promises, and at the
// end. What a power loss elsewhere may leave, it may also leave at the next of these points: the
// ops in between made nothing durable, so all they did can be lost there, and they cannot forbid
// what was allowed before them. Kill: after every op, since a kill keeps everything.
#pragma once

#include <vector>

#include "fusefs/core/recording.h"

namespace tornfs {

// A cut, and how many of the recording's promises have been made by then.
struct CrashPoint {
  OpNumber cut = 0;
  std::size_t promises = 0;
  friend auto operator<=>(const CrashPoint&, const CrashPoint&) = default;
};

// Lines printed with no op between them: a crash before each, or only before the first.
enum class PromisesApart : std::uint8_t { kEach, kFirst };

// In rising order, without repetition.
[[nodiscard]] std::vector<CrashPoint> PowerPoints(const Recording& recording,
                                                  PromisesApart apart = PromisesApart::kEach);
[[nodiscard]] std::vector<CrashPoint> KillPoints(const Recording& recording);
// Power points before every op: what --crash-points all asks for, and what PowerPoints must equal
// in the states it reaches.
[[nodiscard]] std::vector<CrashPoint> AllPoints(const Recording& recording);

}  // namespace tornfs
