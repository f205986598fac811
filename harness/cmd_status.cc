// tornfs status MNT
#include <boost/program_options.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "common/units.h"
#include "harness/commands.h"
#include "harness/mount_command.h"

namespace tornfs::harness {
namespace {

namespace po = boost::program_options;
using Json = nlohmann::json;

void PrintLine(const char* name, const std::string& value) {
  std::printf("%-16s %s\n", name, value.c_str());
}

std::string Number(const Json& object, const char* key) {
  return std::to_string(object.value(key, std::uint64_t{0}));
}

std::string ArmedText(const Json& armed) {
  if (!armed.is_object()) return "nothing";
  return armed.value("trigger", "") + ", " + Number(armed, "matches") + " matches so far";
}

std::string LastText(const Json& last) {
  if (!last.is_object()) return "none";
  return last.contains("error") ? "failed: " + last.value("error", "") : last.value("text", "");
}

void PrintStatus(const Json& status) {
  PrintLine("mount", status.value("mount", ""));
  PrintLine("control", status.value("control", ""));
  PrintLine("pid", Number(status, "pid"));
  PrintLine("up", std::to_string(status.value("uptime_ms", std::uint64_t{0}) / 1000) + " s");
  PrintLine("model", status.value("model", ""));
  PrintLine("epoch", Number(status, "epoch"));
  PrintLine("ops", Number(status, "ops"));
  PrintLine("pending", Number(status, "pending_effects") + " effects, " +
                           FormatSize(status.value("pending_bytes", std::uint64_t{0})));
  PrintLine("stored", FormatSize(status.value("stored_bytes", std::uint64_t{0})));
  PrintLine("sync(2)", status.value("sync_seen", false) ? "seen" : "not seen; use `tornfs sync`");
  const Json memory = status.value("memory", Json::object());
  PrintLine("memory", FormatSize(memory.value("resident", std::uint64_t{0})) + " of " +
                          FormatSize(memory.value("limit", std::uint64_t{0})) +
                          (memory.value("short", false) ? ", short" : "") +
                          "; moved to the store " +
                          FormatSize(memory.value("moved_bytes", std::uint64_t{0})) +
                          ", written back " + Number(memory, "written_back") + " effects");
  const Json faults = status.value("faults", Json::object());
  PrintLine("faults", std::to_string(faults.value("rules", Json::array()).size()) + " rules, " +
                          Number(faults, "injected") + " injected");
  PrintLine("armed", ArmedText(status.value("armed", Json())));
  PrintLine("crash under way", status.value("crashing", false) ? "yes" : "no");
  PrintLine("last crash", LastText(status.value("last_crash", Json())));
  const Json counters = status.value("counters", Json::object());
  PrintLine("requests", Number(counters, "requests") + ", of dead epochs " +
                            Number(counters, "dead_requests") + ", changes refused " +
                            Number(counters, "refused_changes"));
}

void DescribeStatus(po::options_description& options, std::vector<Positional>& positionals) {
  DescribeMountCommand(options, positionals);
}

int RunStatus(const ParsedCommand& parsed) {
  return CallMount(parsed, "status", Json::object(), PrintStatus);
}

}  // namespace

extern const Command kStatusCommand{
    "status",
    "show the state of a mount",
    "MNT",
    TORNFS_MOUNT_COMMAND_EXITS,
    TakesChild::kNone,
    DescribeStatus,
    RunStatus,
};

}  // namespace tornfs::harness
