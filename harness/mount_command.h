// What the commands that talk to a running mount have in common.
#pragma once

#include <chrono>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "harness/cli.h"
#include "harness/live/crash_options.h"

namespace tornfs::harness {

// Paragraph for the description of each of these commands.
#define TORNFS_MOUNT_COMMAND_EXITS                                                           \
  "MNT is the path as it was given to `tornfs mount`; --control names the socket where that" \
  " differs.\nExits with 3 if the daemon is not there or could not do it."

// MNT and --control.
void DescribeMountCommand(boost::program_options::options_description& options,
                          std::vector<Positional>& positionals);

// The socket of the mount that the command line names.
[[nodiscard]] std::string ControlPathOf(const ParsedCommand& parsed);

// Sends `op`; with --json prints the result as one line, else calls `print` with it. Returns the
// exit code; failures have been reported. Leaves the working directory, so that a crash with --kill
// does not hit the very process that asked for it.
[[nodiscard]] int CallMount(const ParsedCommand& parsed, std::string_view op,
                            const nlohmann::json& args,
                            const std::function<void(const nlohmann::json& result)>& print,
                            std::chrono::seconds timeout = std::chrono::seconds(60));

// --lose, --seed, --tear and --plan.
void DescribeCrashOptions(boost::program_options::options_description& options);
// Errors: kInvalid.
[[nodiscard]] Result<CrashOptions> ReadCrashOptions(const ParsedCommand& parsed);

}  // namespace tornfs::harness
