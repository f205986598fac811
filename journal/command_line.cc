#include "journal/command_line.h"

#include <algorithm>
#include <array>
#include <boost/program_options.hpp>
#include <charconv>
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

constexpr std::array<Command, 15> kCommands{{
    {"append", "Append records from standard input; print `ack OP SUM` for each once durable.",
     RunAppend, true},
    {"recover", "Open for writing, repair, print `durable OP SUM` for each retained record.",
     RunRecover, true},
    {"certify", "Record that the log up to an op is complete as of a view.", RunCertify, true},
    {"checkpoint", "Forget the history before an op.", RunCheckpoint, true},
    {"truncate", "Drop an op and everything after it.", RunTruncate, true},
    {"purge", "Record that messages up to an op are purged.", RunPurge, true},
    {"reset", "Forget everything; the next op follows the given one.", RunReset, true},
    {"segments", "Keep the bodies of messages in segments from now on.", RunSegments, true},
    {"backup", "Copy the journal into a new folder.", RunBackup, true},
    {"restore", "Replace the journal by a backup; a crash leaves one or the other.", RunRestore,
     true},
    {"bench", "Append records as fast as they can be made durable.", RunBench, true},
    {"verify", "Check the journal and every promise made; reads only.", RunVerify, false},
    {"read", "Print the records' bodies; reads only.", RunRead, false},
    {"dump", "Print slots, files and records, damaged or not; reads only.", RunDump, false},
    {"stat", "Print head, checkpoint, sizes and slot states; reads only.", RunStat, false},
}};

void AddOwnOptions(std::string_view name, po::options_description& options) {
  auto add = options.add_options();
  if (name == "append" || name == "bench") {
    add("group", po::value<std::string>(), "records per durable group (1)");
  }
  if (name == "append") {
    add("checkpoint", po::value<std::string>(),
        "at the end checkpoint this op, which also makes the last partial group durable");
    add("messages", "each record is a batch of one message");
    add("referenced", "the same, and its body goes to a segment that this program writes");
  }
  if (name == "append" || name == "read") {
    add("length-prefixed", "records are a 4-byte little-endian length and bytes, not lines");
  }
  if (name == "recover") {
    add("accept-loss", "with a lost slot and a damaged tail keep the records before the damage");
  }
  if (name == "verify") {
    add("promises", po::value<std::string>(), "file of `ack` and `durable` lines to check");
  }
  if (name == "certify") {
    add("op", po::value<std::string>(), "the op (the head)");
    add("view", po::value<std::string>(), "the view (required)");
  }
  if (name == "checkpoint") add("op", po::value<std::string>(), "the op that stays (required)");
  if (name == "truncate") add("from", po::value<std::string>(), "the op (required)");
  if (name == "purge") {
    add("generation", po::value<std::string>(), "number of the purge (required)");
    add("floor", po::value<std::string>(), "the last purged op (the head)");
  }
  if (name == "reset") {
    add("op", po::value<std::string>(), "the op before the next one (required)");
    add("checksum", po::value<std::string>(), "its checksum, 16 hex digits (any)");
  }
  if (name == "segments") {
    add("max-size", po::value<std::string>(), "bytes after which a new segment begins (required)");
    add("offset", po::value<std::string>(), "offset of the first message in segments");
  }
  if (name == "backup") add("to", po::value<std::string>(), "a folder to create (required)");
  if (name == "restore") add("from", po::value<std::string>(), "the backup (required)");
  if (name == "bench") {
    add("records", po::value<std::string>(), "how many records (1000)");
    add("size", po::value<std::string>(), "bytes of each (4000)");
    add("threads", po::value<std::string>(), "callers that share barriers, one record each");
    add("delay-us", po::value<std::string>(), "wait so long for a group to grow (0)");
  }
}

po::options_description OptionsOf(const Command& command) {
  po::options_description options("Options");
  auto add = options.add_options();
  add("dir", po::value<std::string>(), "the journal's directory (required)");
  add("group-id", po::value<std::string>(), "group the journal must belong to (fresh: 1)");
  add("incarnation", po::value<std::string>(), "incarnation it must be of (fresh: 1)");
  add("protocol", po::value<std::string>(), "tornfs, or a baseline: reference, rename");
  if (command.writes) {
    add("capacity", po::value<std::string>(), "bytes of records to admit (256MiB)");
    add("preallocate", "reserve the disk space of new segments");
    add("without", po::value<std::vector<std::string>>(), "switch a rule off; repeatable");
  }
  AddOwnOptions(command.name, options);
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

  Protocol ProtocolInForce() {
    if (!Has("protocol")) return Protocol::kTornfs;
    const auto protocol = ParseProtocol(Text("protocol"));
    if (!protocol) Fail("unknown protocol '" + Text("protocol") + "'");
    return protocol.value_or(Protocol::kTornfs);
  }

  std::optional<std::uint64_t> Checksum(const char* name) {
    if (!Has(name)) return std::nullopt;
    const std::string text = Text(name);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    if (text.size() != 16 || error != std::errc() || end != text.data() + text.size()) {
      Fail("--" + std::string(name) + " needs 16 hex digits");
    }
    return value;
  }

  std::optional<std::uint64_t> Optional(const char* name) {
    if (!Has(name)) return std::nullopt;
    return Number(name, 0);
  }

  Rules RulesInForce(Protocol protocol) {
    Rules rules = RulesOf(protocol);
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

struct Required {
  std::string_view command;
  const char* option;
};

constexpr std::array<Required, 8> kRequired{{{"checkpoint", "op"},
                                             {"truncate", "from"},
                                             {"certify", "view"},
                                             {"purge", "generation"},
                                             {"reset", "op"},
                                             {"segments", "max-size"},
                                             {"backup", "to"},
                                             {"restore", "from"}}};

Request TakeRequest(const Command& command, Values& values) {
  Request request;
  values.Require("dir");
  for (const auto& [name, option] : kRequired) {
    if (command.name == name) values.Require(option);
  }
  request.directory = values.Text("dir");
  request.json = values.Has("json");
  request.length_prefixed = values.Has("length-prefixed");
  request.promises = values.Text("promises");
  request.group = values.Number("group", 1, 1);
  request.op = values.Number("op", 0, command.name == "reset" ? 0 : 1);
  request.checkpoint = values.Number("checkpoint", 0, 1);
  if (command.name == "truncate") request.from = values.Number("from", 0, 1);
  request.other = values.Text(command.name == "restore" ? "from" : "to");
  request.messages = values.Has("messages");
  request.referenced = values.Has("referenced");
  request.generation = values.Number("generation", 0, 1);
  request.floor = values.Optional("floor");
  request.checksum = values.Checksum("checksum");
  request.offset = values.Optional("offset");
  request.segment_bytes = values.Size("max-size", 0);
  request.records = values.Number("records", 1000, 1);
  request.record_bytes = values.Number("size", 4000, 0, kPrepareBytesMax - kPrepareBytesMin);
  request.threads = values.Number("threads", 0, 1, 1024);
  request.delay_us = values.Number("delay-us", 0, 0, 1000000);
  request.view = static_cast<std::uint32_t>(
      values.Number("view", 0, 0, std::numeric_limits<std::uint32_t>::max()));
  request.options.capacity = values.Size("capacity", kCapacityDefault);
  request.options.protocol = values.ProtocolInForce();
  request.options.rules = values.RulesInForce(request.options.protocol);
  request.options.accept_loss = values.Has("accept-loss");
  request.options.preallocate_segments = values.Has("preallocate");
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
