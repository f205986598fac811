#include "harness/on/spec.h"

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "harness/live/machine.h"

namespace tornfs::harness {
namespace {

// Room for most programs; a larger XFS wants a larger log.
constexpr std::uint64_t kRoomyBytes = kDeviceBytes / 4;

}  // namespace

Result<Filesystem> FindRoomyFilesystem(std::string_view text) {
  auto filesystem = FindFilesystem(text);
  if (filesystem) filesystem->size = std::to_string(kRoomyBytes >> 20) + "m";
  return filesystem;
}

Result<std::vector<Schedule>> ParseProgramSchedules(std::string_view text) {
  auto schedules = ParseSchedules(text);
  if (!schedules) return schedules;
  for (const Schedule schedule : *schedules) {
    if (schedule != Schedule::kInterleaved) continue;
    return Fail(ErrorCode::kInvalid, "schedule I needs a program whose steps are known");
  }
  return schedules;
}

std::string ScheduleLetters(const std::vector<Schedule>& schedules) {
  std::string letters;
  for (const Schedule schedule : schedules) letters += ScheduleLetter(schedule);
  return letters;
}

Status CheckDeviceMachine(const Filesystem& filesystem) {
  if (::geteuid() != 0) return Fail(ErrorCode::kMissing, "only root can mount filesystems");
  if (const Status fuse = CheckFuse(); !fuse) return fuse;
  if (const Status loop = CheckLoopDevices(); !loop) return loop;
  return CheckFilesystem(filesystem);
}

nlohmann::json OnSpecToJson(const OnSpec& spec) {
  return {{"exploration", SpecToJson(spec.explore)},
          {"filesystem", spec.filesystem.name},
          {"schedules", ScheduleLetters(spec.schedules)},
          {"images", spec.images}};
}

Result<OnSpec> OnSpecFromJson(const nlohmann::json& json) {
  OnSpec spec;
  try {
    auto explore = SpecFromJson(json.at("exploration"));
    if (!explore) return tl::make_unexpected(explore.error());
    spec.explore = std::move(*explore);
    auto filesystem = FindRoomyFilesystem(json.at("filesystem").get<std::string>());
    if (!filesystem) return tl::make_unexpected(filesystem.error());
    spec.filesystem = std::move(*filesystem);
    auto schedules = ParseProgramSchedules(json.at("schedules").get<std::string>());
    if (!schedules) return tl::make_unexpected(schedules.error());
    spec.schedules = std::move(*schedules);
    json.at("images").get_to(spec.images);
  } catch (const nlohmann::json::exception& error) {
    return Fail(ErrorCode::kCorrupt, std::string("not an exploration: ") + error.what());
  }
  return spec;
}

}  // namespace tornfs::harness
