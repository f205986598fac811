// tornfs unsynced MNT: what a power loss now could take.
#include <boost/program_options.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "harness/commands.h"
#include "harness/mount_command.h"

namespace tornfs::harness {
namespace {

namespace po = boost::program_options;
using Json = nlohmann::json;

void PrintUnsynced(const Json& result) {
  const Json effects = result.value("effects", Json::array());
  for (const Json& effect : effects) {
    std::printf("op %-8u %s\n", effect.value("op", 0U), effect.value("effect", "").c_str());
  }
  const auto pending = result.value("pending", std::size_t{0});
  if (pending > effects.size()) std::printf("... and %zu more\n", pending - effects.size());
  if (pending == 0) std::puts("nothing: everything is durable");
}

void DescribeUnsynced(po::options_description& options, std::vector<Positional>& positionals) {
  DescribeMountCommand(options, positionals);
}

int RunUnsynced(const ParsedCommand& parsed) {
  return CallMount(parsed, "unsynced", Json::object(), PrintUnsynced);
}

}  // namespace

extern const Command kUnsyncedCommand{
    "unsynced",
    "list what a power loss now could take",
    "MNT",
    "One line per pending effect, the data page by page. Stores through shared mappings that the\n"
    "kernel has not written back are not listed.\n\n" TORNFS_MOUNT_COMMAND_EXITS,
    TakesChild::kNone,
    DescribeUnsynced,
    RunUnsynced,
};

}  // namespace tornfs::harness
