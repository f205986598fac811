// tornfs arm MNT TRIGGER, tornfs disarm MNT: a crash at an exact op to come.
#include <boost/program_options.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "fusefs/core/trigger.h"
#include "harness/commands.h"
#include "harness/mount_command.h"

namespace tornfs::harness {
namespace {

namespace po = boost::program_options;

void DescribeArm(po::options_description& options, std::vector<Positional>& positionals) {
  DescribeMountCommand(options, positionals);
  positionals.push_back({"TRIGGER"});
  DescribeCrashOptions(options);
  options.add_options()("kill", "first end every process that uses the mount");
}

int RunArm(const ParsedCommand& parsed) {
  auto options = ReadCrashOptions(parsed);
  if (!options) return UsageError(parsed, options.error().Message());
  options->kill = parsed.options.count("kill") != 0;
  const auto trigger = ParseTrigger(parsed.positionals[1]);
  if (!trigger) return UsageError(parsed, trigger.error().Message());
  nlohmann::json args = ToJson(*options);
  args["trigger"] = FormatTrigger(*trigger);
  return CallMount(parsed, "arm", args, [](const nlohmann::json& result) {
    std::printf("armed: %s\n", result.value("trigger", "").c_str());
  });
}

void DescribeDisarm(po::options_description& options, std::vector<Positional>& positionals) {
  DescribeMountCommand(options, positionals);
}

int RunDisarm(const ParsedCommand& parsed) {
  return CallMount(parsed, "disarm", nlohmann::json::object(), [](const nlohmann::json& result) {
    std::puts(result.value("was_armed", false) ? "disarmed" : "nothing was armed");
  });
}

}  // namespace

extern const Command kArmCommand{
    "arm",
    "lose power at an exact operation to come",
    "MNT TRIGGER [--lose all|none|random] [--seed N] [--tear T] [--plan TOKEN] [--kill]",
    "TRIGGER is WHEN OPERATION [PATH] [by COMM] [#N], as in 'before fsync wal/* #3':\n"
    "  WHEN       before, during (effects issued, the call not answered) or after\n"
    "  OPERATION  create, write, rename, fsync, ..., or op for any\n"
    "  PATH       a pattern on the path below the mount; * matches / too\n"
    "  COMM       the name of the calling thread\n"
    "  N          the N-th match, counted from now; 'before op #57' is the op of that number\n"
    "The call at which it fires is answered EIO, a moment before the crash is over; `status` says\n"
    "whether one is under way. A second arm replaces the first; `status` shows\n"
    "what is armed and what the last crash did.\n\n" TORNFS_MOUNT_COMMAND_EXITS,
    TakesChild::kNone,
    DescribeArm,
    RunArm,
};

extern const Command kDisarmCommand{
    "disarm",
    "forget what `arm` asked for",
    "MNT",
    TORNFS_MOUNT_COMMAND_EXITS,
    TakesChild::kNone,
    DescribeDisarm,
    RunDisarm,
};

}  // namespace tornfs::harness
