// The command line of tornfs: exit codes, the cut at "--", and the runner of a command table.
//
// Rules every command gets for free
//   * `--help` and `--json`; option names are never guessed from a prefix.
//   * argv is cut at its first "--" before options are parsed, so nothing behind it is ever read
//     as an option of ours.
//   * A wrong command line prints exactly one line on standard error, which names
//     `tornfs CMD --help`, and exits with 2.
//   * Help goes to standard output, in the shape help2man reads ("Usage:", then text, "Options:").
//
// Only cli.cc and the files of the commands include Boost.Program_options; this header declares
// the three names it needs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace boost::program_options {
class options_description;
class variables_map;
}  // namespace boost::program_options

namespace tornfs::harness {

// Process exit codes, documented in tornfs(1); changing one breaks users' scripts. `run` passes
// its child's status on instead.
enum Exit : int {
  kExitOk = 0,             // No violation, and the requested strategy finished.
  kExitViolation = 1,      // At least one crash state broke a promise.
  kExitUsage = 2,          // Wrong command line or configuration.
  kExitInconclusive = 3,   // Could not be judged, or ended before it was.
  kExitNotReproduced = 4,  // replay, shrink: the recorded outcome did not come back.
  kExitToolFailed = 125,   // run: tornfs itself failed.
  kExitNotExecutable = 126,
  kExitNotFound = 127,
  kExitMissing = 77,  // The machine lacks what is needed.
};

// argv without the program's name, cut at the first "--".
struct SplitArguments {
  std::vector<std::string> own;
  std::vector<std::string> child;  // Everything behind the first "--", untouched.
  bool has_separator = false;      // A "--" was there, even with nothing behind it.
};
[[nodiscard]] SplitArguments SplitArgv(std::span<const char* const> arguments);

enum class TakesChild : std::uint8_t { kNone, kOptional, kRequired };

// One word of the command line that is not an option.
struct Positional {
  std::string name;  // As shown: "MNT". One or more words where it is the last and ends in "...".
  bool required = true;
};

// What a command is run with. Valid during run() only.
struct ParsedCommand {
  const boost::program_options::variables_map& options;
  std::vector<std::string> positionals;  // In order; optional ones at the end may be absent.
  std::vector<std::string> child;        // Behind "--"; empty when there was none.
  bool json = false;                     // --json was given.
  std::string name;                      // "tornfs explore", for UsageError().
};

// One row of the command table. Strings are literals.
struct Command {
  const char* name;
  const char* summary;      // One line for `tornfs help`, without a full stop.
  const char* usage;        // What follows the name: "MNT [options]".
  const char* description;  // Paragraphs for `--help`; may be empty.
  TakesChild takes_child;
  // Adds the command's options and its positional words; required positionals come first.
  void (*describe)(boost::program_options::options_description& options,
                   std::vector<Positional>& positionals);
  // Returns the exit code. Does not throw.
  int (*run)(const ParsedCommand& parsed);
};

struct Program {
  const char* name;     // "tornfs"
  const char* version;  // "0.1.0"
  const char* summary;  // One line.
  std::span<const Command> commands;
};

// Runs what `argv` asks for: a command, `help [CMD]`, `--help` or `--version`. Returns the exit
// code. `argv` includes the program's name.
[[nodiscard]] int RunProgram(const Program& program, std::span<const char* const> argv);

// For a command that finds a mistake in its own arguments: prints the one line and returns
// kExitUsage.
[[nodiscard]] int UsageError(const ParsedCommand& parsed, std::string_view text);

}  // namespace tornfs::harness
