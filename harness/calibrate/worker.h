// Worker: one process of a calibration, with a rig and a core of its own. Takes runs in order and
// reports through a pipe, a JSON object a line:
//
//   {"job": 12, "images": 80, "equal": 31, "unreadable": 0, "why": "", "seconds": 0.4,
//    "trees": [["{f=F[]}", 14, false], ...]}
//   {"escape": {"id": ..., "filesystem": 0, "program": 3, "sentence": ..., "reproduced": true}}
//   {"error": {"code": 7, "text": "..."}}
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "harness/calibrate/calibration.h"

namespace tornfs::harness {

// In memory that all workers share; losing a race costs an image too many, nothing else.
struct CalibrationCounters {
  std::atomic<std::uint64_t> next_job{0};
  std::atomic<std::uint64_t> jobs_done{0};
  std::atomic<std::uint64_t> images{0};
  std::atomic<std::uint64_t> escapes{0};
  std::atomic<bool> stop{false};
};

struct CalibrationWorker {
  const CalibrationSpec& spec;
  CalibrationCounters& counters;
  std::string folder;  // Its own, empty.
  unsigned number = 0;
  int core = -1;
  int pipe = -1;  // Write end.
};

// The body of a worker process, to be called right after fork. Returns its exit code.
[[nodiscard]] int RunCalibrationWorker(const CalibrationWorker& worker);

}  // namespace tornfs::harness
