// tornfs crash MNT: loses power now.
#include <boost/program_options.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "harness/commands.h"
#include "harness/mount_command.h"

namespace tornfs::harness {
namespace {

namespace po = boost::program_options;

void DescribeCrash(po::options_description& options, std::vector<Positional>& positionals) {
  DescribeMountCommand(options, positionals);
  DescribeCrashOptions(options);
  options.add_options()("kill", "first end every process that uses the mount");
}

int RunCrash(const ParsedCommand& parsed) {
  auto options = ReadCrashOptions(parsed);
  if (!options) return UsageError(parsed, options.error().Message());
  options->kill = parsed.options.count("kill") != 0;
  return CallMount(parsed, "crash", ToJson(*options), [](const nlohmann::json& result) {
    std::printf("%s\n", result.value("text", "").c_str());
    if (const auto killed = result.value("killed", 0U); killed != 0) {
      std::printf("%u processes killed\n", killed);
    }
    std::printf("epoch %u begins\n", result.value("epoch", 0U));
  });
}

}  // namespace

extern const Command kCrashCommand{
    "crash",
    "lose power: pending effects go, and the mount shows what is left",
    "MNT [--lose all|none|random] [--seed N] [--tear T] [--plan TOKEN] [--kill]",
    "Processes live on unless --kill is given; whatever they have open on the mount answers EIO.\n"
    "A handle or working directory on the root of the mount goes on into the state after the\n"
    "crash. --kill ends the processes with a working directory, root, program, open file or\n"
    "mapping on the mount, the shell you stand in included.\n"
    "The printed plan repeats the choice on the same pending "
    "effects.\n\n" TORNFS_MOUNT_COMMAND_EXITS,
    TakesChild::kNone,
    DescribeCrash,
    RunCrash,
};

}  // namespace tornfs::harness
