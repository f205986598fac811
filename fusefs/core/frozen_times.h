// FrozenTimes: the times that files show in a world after a crash.
//
// Which times survive a power loss would depend on every effect on a file, so a program that looks
// at one file would tell apart states that differ in nothing it asked for. Times are no cells here
// (effect.h), so every inode shows the time at which the recorded history last changed it, whatever
// the crash point and whatever was lost, until the program changes it itself. In the same way the
// allocated blocks follow from the size, and statfs(2) always answers the same.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "fusefs/core/recording.h"

namespace tornfs {

class FrozenTimes {
 public:
  struct Times {
    Nanoseconds modified = 0;
    Nanoseconds changed = 0;
  };

  // Cost: linear in the inodes and effects of `history`.
  explicit FrozenTimes(const Recording& history);

  // For an inode that the history does not have, the time of its last op.
  [[nodiscard]] Times Of(Ino ino) const;
  // The last op of the history: the clock of every world goes on from here.
  [[nodiscard]] Nanoseconds end() const { return end_; }

 private:
  std::unordered_map<Ino, Times> times_;
  Nanoseconds end_ = 0;
};

}  // namespace tornfs
