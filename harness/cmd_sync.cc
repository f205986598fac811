// tornfs sync MNT: makes everything durable.
#include <boost/program_options.hpp>
#include <nlohmann/json.hpp>

#include "harness/commands.h"
#include "harness/mount_command.h"

namespace tornfs::harness {
namespace {

namespace po = boost::program_options;

void DescribeSync(po::options_description& options, std::vector<Positional>& positionals) {
  DescribeMountCommand(options, positionals);
}

int RunSync(const ParsedCommand& parsed) {
  return CallMount(parsed, "sync", nlohmann::json::object(), [](const nlohmann::json&) {});
}

}  // namespace

extern const Command kSyncCommand{
    "sync",
    "make everything on the mount durable",
    "MNT",
    "What sync(2) would do; the kernel does not tell this kind of mount about sync(2).\n"
    "\n" TORNFS_MOUNT_COMMAND_EXITS,
    TakesChild::kNone,
    DescribeSync,
    RunSync,
};

}  // namespace tornfs::harness
