// tornfs run: one program on a private mount, with or without a crash.
#include <unistd.h>

#include <boost/program_options.hpp>
#include <cstdio>

#include "common/units.h"
#include "harness/commands.h"
#include "harness/failure.h"
#include "harness/live/machine.h"
#include "harness/live/run_session.h"
#include "harness/mount_command.h"
#include "harness/mount_options.h"

namespace tornfs::harness {
namespace {

namespace po = boost::program_options;

void DescribeRun(po::options_description& options, std::vector<Positional>&) {
  const auto text = [] { return po::value<std::string>(); };
  DescribeLiveMountOptions(options);
  options.add_options()("at", text()->value_name("PATH"),
                        "mount on this directory instead of a fresh one");
  options.add_options()("setup", text()->value_name("CMD"),
                        "run CMD first; what it leaves is durable and its ops do not count");
  options.add_options()("crash-at", text()->value_name("WHEN"),
                        "lose power there: a trigger as for `tornfs arm`, an op number N for "
                        "'before op #N', or end for when the program has ended");
  DescribeCrashOptions(options);
  options.add_options()("then", text()->value_name("CMD"),
                        "run CMD on what is left; {promises} is a file with the lines that the "
                        "program had printed");
  options.add_options()("timeout", text()->value_name("TIME"),
                        "kill the setup, the program or --then after this time");
  options.add_options()("user", text()->value_name("NAME"), "run them as this user; needs root");
  options.add_options()("pin", text()->default_value("auto"),
                        "keep daemon and program on one core: auto, a core, or none");
}

std::string Text(const ParsedCommand& parsed, const char* name) {
  return parsed.options.count(name) != 0 ? parsed.options[name].as<std::string>() : "";
}

Status ReadCrashAt(const std::string& text, RunOptions& options) {
  if (text.empty()) return {};
  if (text == "end") {
    options.crash_at_end = true;
    return {};
  }
  const bool number = text.find_first_not_of("0123456789") == std::string::npos;
  const auto trigger = ParseTrigger(number ? "before op #" + text : text);
  if (!trigger) return tl::make_unexpected(trigger.error());
  options.trigger = *trigger;
  return {};
}

Status ReadUser(const std::string& name, RunOptions& options) {
  if (name.empty()) return {};
  if (::geteuid() != 0) return Fail(ErrorCode::kInvalid, "--user needs root");
  auto identity = LookUpUser(name);
  if (!identity) return Fail(ErrorCode::kInvalid, "--user: " + identity.error().Message());
  options.identity = std::move(*identity);
  options.live.owner = options.identity->uid;
  options.live.group = options.identity->gid;
  options.live.allow_other = true;
  return {};
}

// Words that cannot be given an empty value.
Status CheckWords(const ParsedCommand& parsed) {
  for (const char* name : {"at", "setup", "then", "crash-at", "user"}) {
    if (parsed.options.count(name) != 0 && Text(parsed, name).empty()) {
      return Fail(ErrorCode::kInvalid, std::string("--") + name + " is empty");
    }
  }
  const bool crashes = parsed.options.count("crash-at") != 0;
  for (const char* name : {"lose", "seed", "tear", "plan"}) {
    const auto& value = parsed.options[name];
    if (std::string_view(name) != "seed" && !crashes && !value.empty() && !value.defaulted()) {
      return Fail(ErrorCode::kInvalid, std::string("--") + name + " needs --crash-at");
    }
  }
  return {};
}

Result<RunOptions> ReadRunOptions(const ParsedCommand& parsed) {
  RunOptions options;
  options.name = parsed.name;
  options.json = parsed.json;
  options.workload = parsed.child;
  options.setup = Text(parsed, "setup");
  options.then = Text(parsed, "then");
  if (const auto at = Text(parsed, "at"); !at.empty()) options.at = AbsolutePath(at);
  auto live = ReadLiveMountOptions(parsed);
  if (!live) return tl::make_unexpected(live.error());
  options.live = std::move(*live);
  auto faults = ReadFaultOptions(parsed);
  if (!faults) return tl::make_unexpected(faults.error());
  options.faults = std::move(*faults);
  auto crash = ReadCrashOptions(parsed);
  if (!crash) return tl::make_unexpected(crash.error());
  options.crash = std::move(*crash);
  options.seed = options.crash.seed.value_or(1);
  options.crash.seed = options.seed;
  options.crash.kill = true;
  const auto core = ParsePin(Text(parsed, "pin"));
  if (!core) return tl::make_unexpected(core.error());
  options.pin = *core;
  if (const auto timeout = Text(parsed, "timeout"); !timeout.empty()) {
    const auto duration = ParseDuration(timeout);
    if (!duration) return tl::make_unexpected(duration.error());
    options.timeout = *duration;
  }
  for (const Status& status : {CheckWords(parsed), ReadCrashAt(Text(parsed, "crash-at"), options),
                               ReadUser(Text(parsed, "user"), options)}) {
    if (!status) return tl::make_unexpected(status.error());
  }
  return options;
}

int RunRun(const ParsedCommand& parsed) {
  const auto options = ReadRunOptions(parsed);
  if (!options) return UsageError(parsed, options.error().Message());
  if (const Status fuse = CheckFuse(); !fuse) return ReportFailure(parsed, fuse.error());
  return RunLive(*options);
}

}  // namespace

extern const Command kRunCommand{
    "run",
    "run a program on a mount of its own, and cut the power",
    "[--import DIR] [--setup CMD] [--crash-at WHEN [crash options]] [--then CMD] [options] "
    "-- PROGRAM...",
    "PROGRAM runs with the mount as its working directory (also in TORNFS_MOUNT; the caller's\n"
    "directory is in TORNFS_ORIGIN). When the crash comes it is killed at that very operation and\n"
    "sees nothing of it; then --then runs on what survived, with the promises also in\n"
    "TORNFS_PROMISES. Without --crash-at, --then runs when PROGRAM has ended. What is on the\n"
    "mount is thrown away at the end.\n"
    "The standard output of PROGRAM goes through the mount to ours, each line at its place among\n"
    "the ops. As root the mount, process ids and network are private (loopback is there); without\n"
    "root the mount is an ordinary one below /tmp.\n"
    "Daemon and program share one core unless --pin says otherwise: requests are answered faster.\n"
    "The seed is 1 unless given. What the crash did is one line on standard error; with --json,\n"
    "standard error ends in one line with an object: status, program_status, crash, then_status,\n"
    "faults, core. A --fault holds from the start of PROGRAM to its end.\n"
    "Exits with the status of PROGRAM, where the crash that was asked for counts as 0; with 1 if\n"
    "--then fails, and 125 if the crash point never came.",
    TakesChild::kRequired,
    DescribeRun,
    RunRun,
};

}  // namespace tornfs::harness
