#include "harness/device/schedule.h"

#include <algorithm>
#include <array>

namespace tornfs::harness {
namespace {

constexpr std::array kAll{Schedule::kSync,    Schedule::kFsync, Schedule::kWriteBack,
                          Schedule::kDelayed, Schedule::kTimer, Schedule::kInterleaved};
constexpr std::string_view kLetters = "SFWDTI";

}  // namespace

char ScheduleLetter(Schedule schedule) { return kLetters[static_cast<std::size_t>(schedule)]; }

std::span<const Schedule> AllSchedules() { return kAll; }

bool Applies(Schedule schedule, const Filesystem& filesystem) {
  return schedule != Schedule::kTimer || filesystem.commit_option;
}

std::string CommitOption(const Filesystem& filesystem, Schedule schedule) {
  const bool given = filesystem.options.find("commit=") != std::string::npos;
  if (!filesystem.commit_option || given) return {};
  return schedule == Schedule::kTimer ? "commit=1" : "commit=300";
}

Result<std::vector<Schedule>> ParseSchedules(std::string_view text) {
  std::vector<Schedule> schedules;
  for (const char letter : text) {
    if (letter == ',') continue;
    const std::size_t at = kLetters.find(letter);
    if (at == std::string_view::npos) {
      return Fail(ErrorCode::kInvalid,
                  std::string("no schedule '") + letter + "'; there are S, F, W, D, T and I");
    }
    if (std::find(schedules.begin(), schedules.end(), kAll[at]) == schedules.end()) {
      schedules.push_back(kAll[at]);
    }
  }
  if (schedules.empty()) return Fail(ErrorCode::kInvalid, "no schedule given");
  return schedules;
}

}  // namespace tornfs::harness
