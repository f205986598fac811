// Schedules: what happens around a program while it runs, to make the kernel write in different
// orders. All end with syncfs(2), so that everything the program did is on its way somewhere.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "harness/device/filesystem.h"

namespace tornfs::harness {

enum class Schedule : std::uint8_t {
  kSync,         // S: nothing else.
  kFsync,        // F: another file is made and fsynced behind the program: metadata goes first.
  kWriteBack,    // W: the program's data are written back first, without a flush; then as F.
  kDelayed,      // D: as F on a device that is slow to complete writes, in the reverse order.
  kTimer,        // T: the filesystem's own periodic commit comes first.
  kInterleaved,  // I: another file is made and fsynced behind each step.
};

[[nodiscard]] char ScheduleLetter(Schedule schedule);
[[nodiscard]] std::span<const Schedule> AllSchedules();
// Whether it can be brought about there: T needs a filesystem whose interval can be set.
[[nodiscard]] bool Applies(Schedule schedule, const Filesystem& filesystem);
// The mount option for it, or "": T has the shortest interval between commits that there is, all
// others one that does not come into it. An interval that the user gave stays.
[[nodiscard]] std::string CommitOption(const Filesystem& filesystem, Schedule schedule);

// "SFW": letters, in any order, with commas or without. Errors: kInvalid.
[[nodiscard]] Result<std::vector<Schedule>> ParseSchedules(std::string_view text);

}  // namespace tornfs::harness
