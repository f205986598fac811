#include "harness/cli.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/program_options.hpp>

namespace tornfs::harness {
namespace {

namespace po = boost::program_options;

// What the last command saw.
struct Seen {
  int runs = 0;
  std::vector<std::string> positionals;
  std::vector<std::string> child;
  bool json = false;
  int seed = 0;
};
Seen seen;

int Record(const ParsedCommand& parsed) {
  ++seen.runs;
  seen.positionals = parsed.positionals;
  seen.child = parsed.child;
  seen.json = parsed.json;
  if (parsed.options.count("seed") != 0) seen.seed = parsed.options["seed"].as<int>();
  return kExitViolation;
}

void DescribeExplore(po::options_description& options, std::vector<Positional>&) {
  options.add_options()("seed", po::value<int>()->value_name("N"), "start of all randomness");
}

void DescribeExport(po::options_description&, std::vector<Positional>& positionals) {
  positionals = {{"MNT", true}, {"DIR", false}};
}

int Complain(const ParsedCommand& parsed) { return UsageError(parsed, "that makes no sense"); }

constexpr Command kCommands[] = {
    {"explore", "try every crash", "[options] -- WORKLOAD...", "Long text.", TakesChild::kRequired,
     DescribeExplore, Record},
    {"export", "copy the tree", "MNT [DIR]", "", TakesChild::kNone, DescribeExport, Record},
    {"complain", "refuse", "", "", TakesChild::kOptional, DescribeExplore, Complain},
};
constexpr Program kProgram{"tornfs", "1.2.3", "Crashes on purpose", kCommands};

struct Outcome {
  int code;
  std::string out;
  std::string err;
};

Outcome Tornfs(std::vector<const char*> words) {
  seen = {};
  words.insert(words.begin(), "tornfs");
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int code = RunProgram(kProgram, words);
  std::fflush(stdout);
  Outcome outcome{code, testing::internal::GetCapturedStdout(), ""};
  outcome.err = testing::internal::GetCapturedStderr();
  return outcome;
}

// Exit 2, one line on standard error that holds `part` and `help`, nothing run.
void ExpectRefused(const std::vector<const char*>& words, const std::string& part,
                   const std::string& help) {
  const Outcome outcome = Tornfs(words);
  EXPECT_EQ(outcome.code, kExitUsage) << part;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("'" + help + "'"), std::string::npos) << outcome.err;
  EXPECT_EQ(seen.runs, 0);
}

TEST(SplitArgv, CutsAtTheFirstSeparator) {
  const std::vector<const char*> words{"run", "--seed", "7", "--", "sh", "--seed", "--", "x"};
  const SplitArguments split = SplitArgv(words);
  EXPECT_EQ(split.own, (std::vector<std::string>{"run", "--seed", "7"}));
  EXPECT_EQ(split.child, (std::vector<std::string>{"sh", "--seed", "--", "x"}));
  EXPECT_TRUE(split.has_separator);
}

TEST(Cli, RunsTheCommandAndPassesItsCode) {
  EXPECT_EQ(Tornfs({"explore", "--seed", "7", "--json", "--", "sh", "-c", "echo --seed 9"}).code,
            kExitViolation);
  EXPECT_EQ(seen.runs, 1);
  EXPECT_EQ(seen.seed, 7);
  EXPECT_TRUE(seen.json);
  EXPECT_EQ(seen.child, (std::vector<std::string>{"sh", "-c", "echo --seed 9"}));
}

TEST(Cli, PositionalsComeInOrder) {
  EXPECT_EQ(Tornfs({"export", "/m", "--json", "/d"}).code, kExitViolation);
  EXPECT_EQ(seen.positionals, (std::vector<std::string>{"/m", "/d"}));
  EXPECT_EQ(Tornfs({"export", "/m"}).code, kExitViolation);
  EXPECT_EQ(seen.positionals, (std::vector<std::string>{"/m"}));
  EXPECT_FALSE(seen.json);
}

TEST(Cli, WrongLinesAreRefusedInOneLine) {
  const std::string explore = "tornfs explore --help";
  ExpectRefused({}, "no command", "tornfs --help");
  ExpectRefused({"explode"}, "explode", "tornfs --help");
  ExpectRefused({"--frobnicate"}, "--frobnicate", "tornfs --help");
  ExpectRefused({"explore", "--nope", "--", "x"}, "--nope", explore);
  ExpectRefused({"explore", "--se", "7", "--", "x"}, "--se", explore);
  ExpectRefused({"explore", "--seed", "7", "--seed", "8", "--", "x"}, "more than once", explore);
  ExpectRefused({"explore", "--seed", "x", "--", "x"}, "'x'", explore);
  ExpectRefused({"explore", "--seed", "--", "x"}, "--seed", explore);
  ExpectRefused({"explore"}, "needs a command", explore);
  ExpectRefused({"explore", "--"}, "needs a command", explore);
  ExpectRefused({"explore", "stray", "--", "x"}, "stray", explore);
  ExpectRefused({"export"}, "MNT", "tornfs export --help");
  ExpectRefused({"export", "a", "b", "c"}, "'c'", "tornfs export --help");
  ExpectRefused({"export", "a", "--", "ls"}, "no command", "tornfs export --help");
  ExpectRefused({"complain", "--"}, "nothing follows", "tornfs complain --help");
  ExpectRefused({"complain"}, "makes no sense", "tornfs complain --help");
  ExpectRefused({"help", "nothing"}, "nothing", "tornfs --help");
}

TEST(Cli, HelpListsEveryCommand) {
  for (const char* word : {"help", "--help"}) {
    const Outcome outcome = Tornfs({word});
    EXPECT_EQ(outcome.code, kExitOk);
    EXPECT_EQ(outcome.err, "");
    EXPECT_EQ(outcome.out.rfind("Usage: tornfs ", 0), 0U) << outcome.out;
    for (const Command& command : kCommands) {
      EXPECT_NE(outcome.out.find(command.summary), std::string::npos);
    }
  }
}

TEST(Cli, CommandHelpShowsItsOptions) {
  const Outcome outcome = Tornfs({"explore", "--help"});
  EXPECT_EQ(outcome.code, kExitOk);
  EXPECT_EQ(outcome.out, Tornfs({"help", "explore"}).out);
  for (const char* part : {"Usage: tornfs explore [options] -- WORKLOAD...", "--seed N", "--json",
                           "--help", "Long text.", "Exit status:"}) {
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(seen.runs, 0);
}

TEST(Cli, VersionIsOneLine) {
  EXPECT_EQ(Tornfs({"--version"}).out, "tornfs 1.2.3\n");
  EXPECT_EQ(Tornfs({"--version"}).code, kExitOk);
}

}  // namespace
}  // namespace tornfs::harness
