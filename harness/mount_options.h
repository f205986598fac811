// Options that `mount` and `run` share.
#pragma once

#include <vector>

#include "common/result.h"
#include "harness/cli.h"
#include "harness/live/fault_rule.h"
#include "harness/live/live_mount.h"

namespace tornfs::harness {

// --import, --model, --store, --memory-limit, --fault.
void DescribeLiveMountOptions(boost::program_options::options_description& options);
// Paths become absolute. Errors: kInvalid.
[[nodiscard]] Result<LiveMountOptions> ReadLiveMountOptions(const ParsedCommand& parsed);

// What --fault says, in order. Errors: kInvalid.
[[nodiscard]] Result<std::vector<FaultRule>> ReadFaultOptions(const ParsedCommand& parsed);

// A core number, that of the caller for "auto", or -1 for "none". Errors: kInvalid.
[[nodiscard]] Result<int> ParsePin(const std::string& text);

// `path` seen from the working directory, without "." and "..".
[[nodiscard]] std::string AbsolutePath(const std::string& path);

}  // namespace tornfs::harness
