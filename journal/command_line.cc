#include "journal/command_line.h"

#include <algorithm>
#include <array>
#include <boost/program_options.hpp>
#include <limits>
#include <sstream>
#include <string_view>
#include <vector>

#include "common/units.h"

namespace tornfs::journal::cli {
namespace {

namespace po = boost::program_options;

struct Command {
  std::string_view name;
  std::string_view summary;
  int (*run)(const Request&);
  bool writes;
};

constexpr std::array<Command, 9> kCommands{{
    {"append", "Append records from standard input; print `ack OP SUM` for each once durable.",
     RunAppend, true},
    {"recover", "Open for writing, repair, print `durable OP SUM` for each retained record.",
     RunRecover, true},
    {"certify", "Record that the log up to an op is complete as of a view.", RunCertify, true},
    {"checkpoint", "Forget the history before an op.", RunCheckpoint, true},
    {"truncate", "Drop an op and everything after it.", RunTruncate, true},
    {"verify", "Check the journal and every promise made; reads only.", RunVerify, false},
    {"read", "Print the records' bodies; reads only.", RunRead, false},
    {"dump", "Print slots, files and records, damaged or not; reads only.", RunDump, false},
    {"stat", "Print head, checkpoint, sizes and slot states; reads only.", RunStat, false},
}};

po::options_description OptionsOf(const Command& command) {
  po::options_description options("Options");
  auto add = options.add_options();
  add("dir", po::value<std::string>(), "the journal's directory (required)");
  add("group-id", po::value<std::string>(), "group the journal must belong to (fresh: 1)");
  add("incarnation", po::value<std::string>(), "incarnation it must be of (fresh: 1)");
  if (command.writes) {
    add("capacity", po::value<std::string>(), "bytes of records to admit (256MiB)");
    add("without", po::value<std::vector<std::string>>(), "switch a rule off; repeatable");
  }
  if (command.name == "append") {
    add("group", po::value<std::string>(), "records per durable group (1)");
    add("checkpoint", po::value<std::string>(),
        "at the end checkpoint this op, which also makes the last partial group durable");
  }
  if (command.name == "append" || command.name == "read") {
    add("length-prefixed", "records are a 4-byte little-endian length and bytes, not lines");
  }
  if (command.name == "verify") {
    add("promises", po::value<std::string>(), "file of `ack` and `durable` lines to check");
  }
  if (command.name == "checkpoint" || command.name == "certify") {
    add("op", po::value<std::string>(),
        command.name == "certify" ? "the op (the head)" : "the op that stays (required)");
  }
  if (command.name == "certify") add("view", po::value<std::string>(), "the view (required)");
  if (command.name == "truncate") add("from", po::value<std::string>(), "the op (required)");
  add("json", "print JSON, one object per line");
  add("help", "print this");
  return options;
}

std::string CommandList() {
  std::string text = "usage: journal COMMAND --dir D [OPTION]...\n\n";
  for (const Command& command : kCommands) {
    std::string name(command.name);
    name.resize(12, ' ');
    text += "  " + name;
    text += command.summary;
    text += '\n';
  }
  return text +
         "\n`journal COMMAND --help` lists the options of a command.\n"
         "Exit codes: 0 good, 1 refused, damaged or an I/O error, 2 usage.\n";
}

std::string HelpOf(const Command& command) {
  std::ostringstream text;
  text << "usage: journal " << command.name << " --dir D [OPTION]...\n"
       << command.summary << "\n\n"
       << OptionsOf(command);
  if (!command.writes) return text.str();
  text << "\nRules for --without:\n";
  for (const RuleName& rule : AllRules()) {
    std::string name(rule.name);
    name.resize(31, ' ');
    text << "  " << name << rule.meaning << "\n";
  }
  return text.str();
}

// The parsed options, with the first error found while taking them apart.
class Values {
 public:
  explicit Values(const po::variables_map& map) : map_(map) {}

  [[nodiscard]] bool Has(const char* name) const { return map_.count(name) != 0; }

  std::string Text(const char* name) {
    return Has(name) ? map_[name].as<std::string>() : std::string();
  }

  // The number, or `fallback` when the option is absent.
  std::uint64_t Number(const char* name, std::uint64_t fallback, std::uint64_t least = 0,
                       std::uint64_t most = UINT64_MAX) {
    if (!Has(name)) return fallback;
    const auto value = ParseNumber(Text(name));
    if (value && *value >= least && *value <= most) return *value;
    Fail("--" + std::string(name) + " needs a number from " + std::to_string(least) + " to " +
         std::to_string(most));
    return fallback;
  }

  std::uint64_t Size(const char* name, std::uint64_t fallback) {
    if (!Has(name)) return fallback;
    const auto value = ParseSize(Text(name));
    if (value) return *value;
    Fail("--" + std::string(name) + ": " + value.error().context);
    return fallback;
  }

  Rules RulesInForce() {
    Rules rules;
    if (!Has("without")) return rules;
    for (const std::string& name : map_["without"].as<std::vector<std::string>>()) {
      const auto rule = ParseRule(name);
      if (rule) {
        rules.SwitchOff(*rule);
      } else {
        Fail("unknown rule '" + name + "'");
      }
    }
    return rules;
  }

  void Require(const char* name) {
    if (!Has(name)) Fail("--" + std::string(name) + " is required");
  }

  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  void Fail(const std::string& what) {
    if (error_.empty()) error_ = what;
  }

  const po::variables_map& map_;
  std::string error_;
};

Request TakeRequest(const Command& command, Values& values) {
  Request request;
  values.Require("dir");
  if (command.name == "checkpoint") values.Require("op");
  if (command.name == "truncate") values.Require("from");
  if (command.name == "certify") values.Require("view");
  request.directory = values.Text("dir");
  request.json = values.Has("json");
  request.length_prefixed = values.Has("length-prefixed");
  request.promises = values.Text("promises");
  request.group = values.Number("group", 1, 1);
  request.op = values.Number("op", 0, 1);
  request.checkpoint = values.Number("checkpoint", 0, 1);
  request.from = values.Number("from", 0, 1);
  request.view = static_cast<std::uint32_t>(
      values.Number("view", 0, 0, std::numeric_limits<std::uint32_t>::max()));
  request.options.capacity = values.Size("capacity", kCapacityDefault);
  request.options.rules = values.RulesInForce();
  if (values.Has("group-id") || values.Has("incarnation")) {
    request.options.identity =
        Identity{values.Number("group-id", 1), values.Number("incarnation", 1)};
  }
  return request;
}

}  // namespace

Invocation ParseCommandLine(int argc, const char* const* argv) {
  Invocation invocation;
  const std::string_view name = argc > 1 ? argv[1] : "";
  if (name == "--help") {
    invocation.help = CommandList();
    return invocation;
  }
  const auto command = std::find_if(kCommands.begin(), kCommands.end(),
                                    [name](const Command& c) { return c.name == name; });
  if (command == kCommands.end()) {
    invocation.usage_error = name.empty() ? std::string("a command is needed; try --help")
                                          : "unknown command '" + std::string(name) + "'";
    return invocation;
  }
  po::variables_map map;
  try {
    namespace style = po::command_line_style;
    const po::options_description options = OptionsOf(*command);
    const po::positional_options_description no_positionals;
    po::store(po::command_line_parser(argc - 1, argv + 1)
                  .options(options)
                  .positional(no_positionals)
                  .style(style::default_style & ~style::allow_guessing)
                  .run(),
              map);
  } catch (const po::error& error) {
    invocation.usage_error = std::string(name) + ": " + error.what();
    return invocation;
  }
  if (map.count("help") != 0) {
    invocation.help = HelpOf(*command);
    return invocation;
  }
  Values values(map);
  invocation.request = TakeRequest(*command, values);
  invocation.command = command->run;
  if (!values.error().empty()) {
    invocation.usage_error = std::string(name) + ": " + values.error();
  }
  return invocation;
}

}  // namespace tornfs::journal::cli
