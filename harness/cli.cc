#include "harness/cli.h"

#include <algorithm>
#include <boost/program_options.hpp>
#include <cstdio>
#include <sstream>
#include <utility>

namespace tornfs::harness {
namespace {

namespace po = boost::program_options;

constexpr const char* kExitCodes =
    "Exit status:\n"
    "  0    no violation, and the requested strategy finished\n"
    "  1    violation\n"
    "  2    wrong command line\n"
    "  3    inconclusive\n"
    "  4    did not reproduce\n"
    "  77   the machine lacks what is needed\n"
    "  `run` passes the status of its child on: 125 the tool failed, 126 not executable,\n"
    "  127 not found, 128+N ended by signal N.\n";

void PrintLine(std::FILE* stream, const std::string& text) {
  std::fprintf(stream, "%s\n", text.c_str());
}

int Refuse(const std::string& who, const std::string& text, const std::string& help) {
  PrintLine(stderr, who + ": " + text + "; see '" + help + "'");
  return kExitUsage;
}

// A command's options and positional words, with the options every command has.
struct Description {
  po::options_description options{"Options"};
  std::vector<Positional> positionals;

  explicit Description(const Command& command) {
    command.describe(options, positionals);
    options.add_options()("json", "print the result as JSON");
    options.add_options()("help", "print this text and exit");
  }
};

const Command* Find(const Program& program, std::string_view name) {
  for (const Command& command : program.commands) {
    if (name == command.name) return &command;
  }
  return nullptr;
}

void PrintCommandHelp(const Program& program, const Command& command) {
  const Description description(command);
  std::ostringstream text;
  text << "Usage: " << program.name << ' ' << command.name;
  if (*command.usage != '\0') text << ' ' << command.usage;
  text << "\n\n" << command.summary << ".\n";
  if (*command.description != '\0') text << '\n' << command.description << '\n';
  text << '\n' << description.options << '\n' << kExitCodes;
  std::fputs(text.str().c_str(), stdout);
}

void PrintProgramHelp(const Program& program) {
  std::size_t width = 0;
  for (const Command& command : program.commands) {
    width = std::max(width, std::string_view(command.name).size());
  }
  std::ostringstream text;
  text << "Usage: " << program.name << " COMMAND [options] [-- CMD...]\n\n"
       << program.summary << ".\n\nCommands:\n";
  for (const Command& command : program.commands) {
    const std::string name = command.name;
    text << "  " << name << std::string(width - name.size() + 3, ' ') << command.summary << '\n';
  }
  text << "\nOptions:\n"
       << "  --help      print this text and exit\n"
       << "  --version   print the version and exit\n\n"
       << "'" << program.name << " COMMAND --help' describes one command.\n\n"
       << kExitCodes;
  std::fputs(text.str().c_str(), stdout);
}

// Parses `own` (without the command's name) into `variables` and `words`; throws po::error.
void ParseOptions(const std::vector<std::string>& own, const Description& description,
                  po::variables_map* variables, std::vector<std::string>* words) {
  const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
  const po::parsed_options parsed =
      po::command_line_parser(own).options(description.options).style(style).run();
  for (const po::option& option : parsed.options) {
    if (option.string_key.empty()) {
      words->insert(words->end(), option.value.begin(), option.value.end());
    }
  }
  po::store(parsed, *variables);
}

// What is wrong with the words and the child command, or "".
std::string CheckShape(const Command& command, const Description& description,
                       const std::vector<std::string>& words, const SplitArguments& split) {
  const auto& positionals = description.positionals;
  const bool open = !positionals.empty() && positionals.back().name.ends_with("...");
  if (words.size() > positionals.size() && !open) {
    return "unexpected argument '" + words[positionals.size()] + "'";
  }
  if (words.size() < positionals.size() && positionals[words.size()].required) {
    return "missing argument " + positionals[words.size()].name;
  }
  if (command.takes_child == TakesChild::kNone && split.has_separator) {
    return "takes no command behind '--'";
  }
  if (command.takes_child == TakesChild::kRequired && split.child.empty()) {
    return "needs a command behind '--'";
  }
  if (split.has_separator && split.child.empty()) return "nothing follows '--'";
  return "";
}

int RunCommand(const Program& program, const Command& command, SplitArguments split) {
  const std::string who = std::string(program.name) + " " + command.name;
  split.own.erase(split.own.begin());
  const Description description(command);
  po::variables_map variables;
  std::vector<std::string> words;
  std::string wrong;
  try {
    ParseOptions(split.own, description, &variables, &words);
    if (variables.count("help") != 0) {
      PrintCommandHelp(program, command);
      return kExitOk;
    }
    wrong = CheckShape(command, description, words, split);
    if (wrong.empty()) po::notify(variables);
  } catch (const po::error& error) {
    wrong = error.what();
  }
  if (!wrong.empty()) return Refuse(who, wrong, who + " --help");
  const bool json = variables.count("json") != 0;
  return command.run({variables, std::move(words), std::move(split.child), json, who});
}

int RunHelp(const Program& program, const std::vector<std::string>& own) {
  const std::string help = std::string(program.name) + " --help";
  if (own.size() > 2) return Refuse(program.name, "help takes one command", help);
  if (own.size() < 2 || own[1] == "--help") {
    PrintProgramHelp(program);
    return kExitOk;
  }
  const Command* command = Find(program, own[1]);
  if (command == nullptr) return Refuse(program.name, "unknown command '" + own[1] + "'", help);
  PrintCommandHelp(program, *command);
  return kExitOk;
}

}  // namespace

SplitArguments SplitArgv(std::span<const char* const> arguments) {
  SplitArguments split;
  for (const char* argument : arguments) {
    if (split.has_separator) {
      split.child.emplace_back(argument);
    } else if (std::string_view(argument) == "--") {
      split.has_separator = true;
    } else {
      split.own.emplace_back(argument);
    }
  }
  return split;
}

int RunProgram(const Program& program, std::span<const char* const> argv) {
  SplitArguments split = SplitArgv(argv.empty() ? argv : argv.subspan(1));
  const std::string help = std::string(program.name) + " --help";
  if (split.own.empty()) return Refuse(program.name, "no command given", help);
  const std::string first = split.own.front();
  if (first == "help") return RunHelp(program, split.own);
  if (first == "--help") {
    PrintProgramHelp(program);
    return kExitOk;
  }
  if (first == "--version") {
    PrintLine(stdout, std::string(program.name) + " " + program.version);
    return kExitOk;
  }
  const Command* command = Find(program, first);
  if (command == nullptr) {
    const char* what = first.starts_with('-') ? "unknown option '" : "unknown command '";
    return Refuse(program.name, what + first + "'", help);
  }
  return RunCommand(program, *command, std::move(split));
}

int UsageError(const ParsedCommand& parsed, std::string_view text) {
  return Refuse(parsed.name, std::string(text), parsed.name + " --help");
}

}  // namespace tornfs::harness
