// OnSpec: what `explore --on FS` was asked for: a workload and its programs as in any exploration,
// on a real filesystem of this kernel.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "common/result.h"
#include "harness/device/filesystem.h"
#include "harness/device/schedule.h"
#include "harness/explore/spec.h"

namespace tornfs::harness {

struct OnSpec {
  ExploreSpec explore;  // Of it the programs, their place and user, the seed and the timeout.
  Filesystem filesystem;
  std::vector<Schedule> schedules;  // The workload is recorded once under each.
  std::uint64_t images = 1000;      // At most so many crash images are tried.
};

// FindFilesystem() with room for programs of any kind. Errors: kInvalid.
[[nodiscard]] Result<Filesystem> FindRoomyFilesystem(std::string_view text);
// "S, F, W or D": those that can be brought about around any program. Errors: kInvalid.
[[nodiscard]] Result<std::vector<Schedule>> ParseProgramSchedules(std::string_view text);
// "SFWD".
[[nodiscard]] std::string ScheduleLetters(const std::vector<Schedule>& schedules);

// What the machine must have. Errors: kMissing.
[[nodiscard]] Status CheckDeviceMachine(const Filesystem& filesystem);

[[nodiscard]] nlohmann::json OnSpecToJson(const OnSpec& spec);
// Errors: kCorrupt.
[[nodiscard]] Result<OnSpec> OnSpecFromJson(const nlohmann::json& json);

}  // namespace tornfs::harness
