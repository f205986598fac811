// tornfs fault MNT RULE: calls on a mount that go wrong from now on.
#include <boost/program_options.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "harness/commands.h"
#include "harness/live/fault_rule.h"
#include "harness/mount_command.h"

namespace tornfs::harness {
namespace {

namespace po = boost::program_options;

void DescribeFault(po::options_description& options, std::vector<Positional>& positionals) {
  DescribeMountCommand(options, positionals);
  positionals.push_back({"RULE", /*required=*/false});
  options.add_options()("clear", "drop all rules");
}

int RunFault(const ParsedCommand& parsed) {
  const bool clear = parsed.options.count("clear") != 0;
  if (clear == (parsed.positionals.size() > 1)) {
    return UsageError(parsed, "give either a RULE or --clear");
  }
  if (clear) {
    return CallMount(parsed, "clear-faults", nlohmann::json::object(),
                     [](const nlohmann::json& result) {
                       std::printf("dropped %d rules\n", result.value("rules", 0));
                     });
  }
  const auto rule = ParseFaultRule(parsed.positionals[1]);
  if (!rule) return UsageError(parsed, rule.error().Message());
  return CallMount(parsed, "fault", {{"rule", rule->text}}, [](const nlohmann::json& result) {
    std::printf("fault: %s\n", result.value("rule", "").c_str());
  });
}

}  // namespace

extern const Command kFaultCommand{
    "fault",
    "make calls on a mount go wrong",
    "MNT RULE | MNT --clear",
    "RULE is EFFECT OPERATION [PATH] [by COMM] [#N | #N.. | #N..M], as in\n"
    "'fail:EIO:ext4 fsync wal/* #2' or 'delay:20ms write by sqlite3':\n"
    "  fail:ERRNO[:HOW]  the call fails; after a barrier what was written fares as HOW says: ext4\n"
    "                    and xfs (in memory, and never written again), btrfs (gone, for readers\n"
    "                    too), keep (written by the next barrier). ext4 if left out\n"
    "  lie               a barrier succeeds and makes nothing durable\n"
    "  short:SIZE        a write(2) writes no more than SIZE\n"
    "  flip[:BIT]        one bit of what is read or written is the other\n"
    "  zero              the first sector of what is read or written is zero\n"
    "  misdirect         a write goes 4 KiB further than asked\n"
    "  delay:TIME        the call takes that much longer; others go on\n"
    "OPERATION is that of `tornfs arm`, or read, open, access. #N says which matches, counted\n"
    "from now; all of them if left out. What the kernel has cached is read without asking us.\n"
    "Every injection is counted in `tornfs status` and logged by the "
    "daemon.\n" TORNFS_MOUNT_COMMAND_EXITS,
    TakesChild::kNone,
    DescribeFault,
    RunFault,
};

}  // namespace tornfs::harness
