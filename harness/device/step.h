// Steps: calls on small files, as words, that a process other than the device's carries out
// (step_runner.h). harness/calibrate/program.h has the vocabulary.
//
// TEXT in a step is runs of one byte, `a*4096,0*10`; the character 0 is the byte NUL.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace tornfs::harness {

using StepWords = std::vector<std::string>;

// The step as one line: "rename t f".
[[nodiscard]] std::string StepText(const StepWords& step);

// "a*3,0*2" as bytes. Errors: kInvalid.
[[nodiscard]] Result<std::string> BytesOfRuns(std::string_view text);

}  // namespace tornfs::harness
