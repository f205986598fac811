// tornfs export MNT DIR: the tree as programs see it, as ordinary files.
#include <boost/program_options.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/commands.h"
#include "harness/mount_command.h"

namespace tornfs::harness {
namespace {

namespace po = boost::program_options;

void DescribeExport(po::options_description& options, std::vector<Positional>& positionals) {
  DescribeMountCommand(options, positionals);
  positionals.push_back({"DIR"});
}

int RunExport(const ParsedCommand& parsed) {
  std::error_code ignored;
  const std::string directory =
      std::filesystem::absolute(parsed.positionals[1], ignored).lexically_normal();
  constexpr std::chrono::seconds kPatience{600};
  return CallMount(
      parsed, "export", {{"dir", directory}}, [](const nlohmann::json&) {}, kPatience);
}

}  // namespace

extern const Command kExportCommand{
    "export",
    "copy the tree of a mount to a directory",
    "MNT DIR",
    "DIR is filled by the daemon, as the user that the daemon runs as.\n"
    "\n" TORNFS_MOUNT_COMMAND_EXITS,
    TakesChild::kNone,
    DescribeExport,
    RunExport,
};

}  // namespace tornfs::harness
