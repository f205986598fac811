// A calibration: programs on real filesystems, what was seen of each, and what a model says of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/result.h"
#include "harness/calibrate/oracle.h"
#include "harness/calibrate/program.h"
#include "harness/device/filesystem.h"
#include "harness/device/schedule.h"

namespace tornfs::harness {

struct CalibrationSpec {
  std::vector<Filesystem> filesystems;
  std::vector<CalibrationProgram> programs;
  std::vector<Schedule> schedules;
  // By filesystem, then by program.
  std::vector<std::vector<AllowedSet>> allowed;
  std::optional<std::chrono::milliseconds> budget;
  std::optional<std::uint64_t> images;  // Rounds are made until so many were mounted.
  std::size_t images_per_run = 150;
  std::uint64_t seed = 1;
  unsigned jobs = 1;
  std::string out;       // Exists; escapes are written below it.
  bool progress = true;  // On standard error.
};

// One run to be made: what, on what, and how; `round` makes the random choices of another run.
struct CalibrationJob {
  std::size_t filesystem = 0;
  std::size_t program = 0;
  Schedule schedule = Schedule::kSync;
  std::uint64_t round = 0;
};

// The runs of one round, in an order that follows from the seed, so that a round cut short has some
// of everything; job n of a calibration is run n % size of round n / size.
[[nodiscard]] std::vector<CalibrationJob> JobsOfOneRound(const CalibrationSpec& spec);

struct SeenTree {
  std::uint64_t images = 0;
  bool at_end = false;  // Possible when all main steps had returned.
};

// Something that was seen and is not allowed.
struct Escape {
  std::string id;  // Names its folder.
  std::size_t filesystem = 0;
  std::size_t program = 0;
  std::string sentence;
  bool reproduced = true;  // It came again whenever it was mounted again.
};

// What was seen of one program on one filesystem.
struct ProgramOutcome {
  std::map<std::string, SeenTree> seen;
  std::uint64_t runs = 0;
  std::uint64_t images = 0;
  std::uint64_t equal = 0;       // Choices that gave an image known already.
  std::uint64_t unreadable = 0;  // Images that could not be mounted or read.
  std::string unreadable_why;    // The first.
};

struct CalibrationOutcome {
  std::vector<std::vector<ProgramOutcome>> programs;  // By filesystem, then by program.
  std::vector<Escape> escapes;
  std::vector<double> seconds;  // Of all workers, by filesystem, spent on images.
  std::uint64_t images = 0;
  std::uint64_t rounds = 0;  // Complete ones.
  bool interrupted = false;
  bool out_of_time = false;
  std::optional<Error> error;  // A worker could not go on.
  std::chrono::milliseconds elapsed{0};
};

// Forks spec.jobs workers and waits for them; none is left when it returns, and no mount or loop
// device of theirs. Requires a single-threaded process. Errors: kMissing, kIo.
[[nodiscard]] Result<CalibrationOutcome> Calibrate(const CalibrationSpec& spec);

}  // namespace tornfs::harness
