#include "harness/command_line.h"

#include <gtest/gtest.h>

namespace tornfs::harness {
namespace {

using Words = std::vector<std::string>;

const CommandContext kContext{"/home/me", "/mnt/t", "/mnt/t/.promises"};

Words Parse(std::string_view text, const CommandContext& context = kContext) {
  return ParseCommandString(text, context).value();
}

Words Shell(std::string text) { return {"/bin/sh", "-c", std::move(text)}; }

TEST(CommandString, PlainWordsAreExecutedDirectly) {
  EXPECT_EQ(Parse("  journal verify\t--dir j "), (Words{"journal", "verify", "--dir", "j"}));
  EXPECT_EQ(Parse("dd if=a of=b"), (Words{"dd", "if=a", "of=b"}));
}

TEST(CommandString, ShellSyntaxGoesToTheShell) {
  for (const char* text :
       {"a | b", "a; b", "a && b", "a > f", "echo $X", "echo `x`", "echo 'x'", "echo \"x\"", "ls *",
        "ls ?", "echo ~", "! a", "{ a", "a # b", "a\nb", "[ -f x ]", "X=1 a", "a \\b"}) {
    EXPECT_EQ(Parse(text), Shell(text)) << text;
  }
}

TEST(CommandString, CommandsOnlyAShellKnowsGoToTheShell) {
  EXPECT_EQ(Parse("exit 3"), Shell("exit 3"));
  EXPECT_EQ(Parse(":"), Shell(":"));
  EXPECT_EQ(Parse("exits 3"), (Words{"exits", "3"}));
}

TEST(CommandString, PlaceholdersAreNotShellSyntax) {
  EXPECT_EQ(Parse("verify --dir {mount}/j --promises {promises}"),
            (Words{"verify", "--dir", "/mnt/t/j", "--promises", "/mnt/t/.promises"}));
  EXPECT_EQ(Parse("cat {promises} | wc"), Shell("cat /mnt/t/.promises | wc"));
}

TEST(CommandString, AnOddPathStaysOneWord) {
  const CommandContext odd{"/home/me", "/mnt/it's here", "/p q"};
  EXPECT_EQ(Parse("ls {mount}/x", odd), (Words{"ls", "/mnt/it's here/x"}));
  EXPECT_EQ(Parse("ls {promises} | wc", odd), Shell("ls '/p q' | wc"));
  EXPECT_EQ(Parse("ls {mount}; x", odd), Shell("ls '/mnt/it'\\''s here'; x"));
}

TEST(CommandString, AValueIsNotReplacedAgain) {
  EXPECT_EQ(Parse("ls {mount}", {"/o", "/{promises}", "/p"}), (Words{"ls", "/{promises}"}));
}

TEST(CommandString, ARelativeProgramIsTheCallers) {
  EXPECT_EQ(Parse("./check.sh a/b"), (Words{"/home/me/check.sh", "a/b"}));
  EXPECT_EQ(Parse("../bin/x"), (Words{"/home/me/../bin/x"}));
  EXPECT_EQ(Parse("/bin/x"), (Words{"/bin/x"}));
  EXPECT_EQ(Parse("x"), (Words{"x"}));
  EXPECT_EQ(Parse("./x", {"/", "", ""}), (Words{"/x"}));
}

TEST(CommandString, ARelativeProgramInAShellStringIsTheCallers) {
  EXPECT_EQ(Parse(" ./check.sh \"$X\""), Shell("/home/me/check.sh \"$X\""));
  EXPECT_EQ(Parse("./a;b"), Shell("/home/me/a;b"));
  EXPECT_EQ(Parse("./a$X b"), Shell("./a$X b"));
  EXPECT_EQ(Parse("./a | b", {"/my home", "", ""}), Shell("'/my home/a' | b"));
}

TEST(CommandString, AQuotedProgramInAShellStringIsTheCallers) {
  EXPECT_EQ(Parse("\"sub/c.sh\" x"), Shell("/home/me/sub/c.sh x"));
  EXPECT_EQ(Parse("'my dir/c.sh' x"), Shell("'/home/me/my dir/c.sh' x"));
  EXPECT_EQ(Parse("my\\ dir/c.sh x"), Shell("'/home/me/my dir/c.sh' x"));
  EXPECT_EQ(Parse("\"./it's\""), Shell("'/home/me/it'\\''s'"));
  EXPECT_EQ(Parse("\"$DIR/c.sh\" x"), Shell("\"$DIR/c.sh\" x"));
  EXPECT_EQ(Parse("'/abs o/c' x"), Shell("'/abs o/c' x"));
  EXPECT_EQ(Parse("'unfinished/x"), Shell("'unfinished/x"));
}

TEST(CommandString, AssignmentsStandBeforeTheProgram) {
  EXPECT_EQ(Parse("FOO=a/b cmd"), Shell("FOO=a/b cmd"));
  EXPECT_EQ(Parse("FOO=a/b ./cmd c/d"), Shell("FOO=a/b /home/me/cmd c/d"));
  EXPECT_EQ(Parse("A='1 2' B=\"x/y\"  'my d/c' z"), Shell("A='1 2' B=\"x/y\" '/home/me/my d/c' z"));
  EXPECT_EQ(Parse("A=$X ./c"), Shell("A=$X ./c"));
  EXPECT_EQ(Parse("./a=b/c; x"), Shell("/home/me/a=b/c; x"));
}

TEST(CommandString, NothingIsRefused) {
  EXPECT_EQ(ParseCommandString(" \t", kContext).error().code, ErrorCode::kInvalid);
}

TEST(Arguments, AreReplacedButNeverSplit) {
  EXPECT_EQ(PrepareArguments({"./x", "a b", "$HOME", "{mount}/j"}, kContext).value(),
            (Words{"/home/me/x", "a b", "$HOME", "/mnt/t/j"}));
  EXPECT_EQ(PrepareArguments({"{mount}/bin/x"}, kContext).value(), (Words{"/mnt/t/bin/x"}));
}

TEST(Arguments, NothingIsRefused) {
  EXPECT_FALSE(PrepareArguments({}, kContext));
  EXPECT_FALSE(PrepareArguments({""}, kContext));
}

}  // namespace
}  // namespace tornfs::harness
