// How a command reports that it failed: one line on standard error, and an exit code.
#pragma once

#include <string_view>

#include "common/result.h"
#include "harness/cli.h"

namespace tornfs::harness {

// The exit code for an error: kInvalid is a wrong command line (2), kMissing says that the machine
// lacks something (77), and everything else could not be done now (3).
[[nodiscard]] int ExitOf(ErrorCode code);

// Prints "tornfs CMD: text" and returns ExitOf(error.code).
[[nodiscard]] int ReportFailure(const ParsedCommand& parsed, const Error& error);
[[nodiscard]] int ReportFailure(const ParsedCommand& parsed, int exit, std::string_view text);

// For commands on what an earlier exploration left: logs the error; what is not there (kNotFound)
// counts as a wrong command line too.
[[nodiscard]] int ReportUnusableResult(const Error& error);

}  // namespace tornfs::harness
