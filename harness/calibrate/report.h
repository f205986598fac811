// What a calibration found, for people and for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harness/calibrate/calibration.h"

namespace tornfs::harness {

// Which of the allowed outcomes were seen, by number.
[[nodiscard]] std::vector<bool> SeenOf(const AllowedSet& allowed, const ProgramOutcome& outcome);

// How far a model's outcomes were seen on one filesystem.
struct ModelShare {
  std::size_t programs = 0;  // That the model can express and that were run.
  std::size_t allowed = 0;   // Outcomes, over all programs.
  std::size_t seen = 0;      // Of them, seen.
  double median_ratio = 0;   // Over the programs: allowed / seen.
};
[[nodiscard]] ModelShare ShareOf(const CalibrationSpec& spec, const CalibrationOutcome& outcome,
                                 std::size_t filesystem);

// Images a second and core: workers beyond the number of cores share them.
[[nodiscard]] double ImagesPerSecondAndCore(const CalibrationSpec& spec,
                                            const CalibrationOutcome& outcome,
                                            std::size_t filesystem);

[[nodiscard]] std::string CalibrationText(const CalibrationSpec& spec,
                                          const CalibrationOutcome& outcome);
[[nodiscard]] nlohmann::json CalibrationJson(const CalibrationSpec& spec,
                                             const CalibrationOutcome& outcome);

// 0 nothing escaped and a round is complete; 1 something escaped; 3 not finished; 77.
[[nodiscard]] int CalibrationExit(const CalibrationOutcome& outcome);

}  // namespace tornfs::harness
