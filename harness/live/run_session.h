// RunSession: `tornfs run`, from the mount to the exit code.
#pragma once

#include "harness/live/run_options.h"

namespace tornfs::harness {

// Does all of it and returns the exit code; every failure has been reported in one line. Requires a
// single-threaded process.
[[nodiscard]] int RunLive(const RunOptions& options);

}  // namespace tornfs::harness
