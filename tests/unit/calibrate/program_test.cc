#include "harness/calibrate/program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

#include "harness/calibrate/filesystem.h"
#include "harness/calibrate/schedule.h"
#include "harness/calibrate/step_runner.h"
#include "harness/calibrate/tree_text.h"
#include "unit/harness/temp_dir.h"

namespace tornfs::harness {
namespace {

TEST(Program, IsReadFromJson) {
  const auto programs = ParsePrograms(
      R"([{"name": "x", "setup": [["mk", "f", "o", 10]], "seen": {},
           "main": [["ren", "f", "g"], ["mark", "done"], ["close", "g"]]}])");
  ASSERT_TRUE(programs) << programs.error().Message();
  ASSERT_EQ(programs->size(), 1U);
  const LitmusProgram& program = programs->front();
  EXPECT_EQ(program.name, "x");
  EXPECT_EQ(StepText(program.setup[0]), "mk f o 10");
  EXPECT_EQ(StepText(program.main[0]), "ren f g");
  EXPECT_EQ(program.Done(), 1U);
}

TEST(Program, MistakesAreNamed) {
  for (const char* text : {
           "{}",
           R"([{"setup": [], "main": []}])",
           R"([{"name": "x", "setup": []}])",
           R"([{"name": "x", "setup": [], "main": [["fly", "f"]]}])",
           R"([{"name": "x", "setup": [], "main": [["ren", "f"]]}])",
           R"([{"name": "x", "setup": [], "main": [["w", "f", "n", -1]]}])",
           R"([{"name": "x", "setup": [], "main": ["ren f g"]}])",
       }) {
    const auto programs = ParsePrograms(text);
    ASSERT_FALSE(programs) << text;
    EXPECT_EQ(programs.error().code, ErrorCode::kInvalid) << text;
  }
}

// Runs steps in a directory of the machine and says what came of it.
std::string TreeAfter(const std::string& steps) {
  const TempDir directory;
  const mode_t old = ::umask(022);
  auto programs = ParsePrograms(R"([{"name": "x", "setup": [], "main": )" + steps + "}]");
  if (!programs) return programs.error().Message();
  auto runner = StepRunner::Open(directory.path());
  if (!runner) return runner.error().Message();
  for (const Step& step : programs->front().main) {
    if (const Status done = runner->Run(step); !done) return done.error().Message();
  }
  (void)::umask(old);
  return ReadTreeText(directory.path()).value_or("unreadable");
}

TEST(StepRunner, MakesTheTreeItsStepsDescribe) {
  EXPECT_EQ(TreeAfter(R"([["mk", "f"], ["mk", "g", "a", 3], ["mkdir", "d"], ["creat", "d/e"]])"),
            "{d=D; d/e=F[]; f=F[o*4096]; g=F[a*3]}");
  EXPECT_EQ(TreeAfter(R"([["mk", "f", "a", 5], ["op", "f"], ["w", "f", "b", 5],
                          ["w", "f", "c", 2, 1], ["w", "f", "d", 1, 12]])"),
            "{f=F[a*1 c*2 a*2 b*5 0*2 d*1]}");
  EXPECT_EQ(TreeAfter(R"([["mk", "f", "a", 9], ["tr", "f", 4], ["tr", "f", 6], ["link", "f", "l"],
                          ["chmod", "f", "0600"]])"),
            "{f=F[a*4 0*2] nl2 m600; l=F[a*4 0*2] nl2 m600}");
  EXPECT_EQ(TreeAfter(R"([["mkdir", "d"], ["rmdir", "d"], ["creat", "f"],
                          ["posix_fallocate", "f", 0, 100], ["unl", "f"]])"),
            "{}");
}

TEST(StepRunner, AnOpenFileGoesWithItsName) {
  EXPECT_EQ(TreeAfter(R"([["creat", "t"], ["ren", "t", "f"], ["w", "f", "n", 4], ["fsync", "f"],
                          ["fdatasync", "f"], ["fsyncdir"], ["close", "f"], ["mark", "done"]])"),
            "{f=F[n*4]}");
}

TEST(StepRunner, AFailedCallIsAnError) {
  EXPECT_NE(TreeAfter(R"([["ren", "none", "f"]])").find("ren none f"), std::string::npos);
}

TEST(TreeText, BytesThatAreNoLettersAreQuestionMarks) {
  const std::string bytes(
      "aa\0\0\xD7\xFE"
      "1b",
      8);
  EXPECT_EQ(RunsText(bytes), "a*2 0*2 ?*3 b*1");
  EXPECT_EQ(RunsText({}), "");
}

TEST(FindFilesystem, OptionsOfABuiltInOneAreThatOne) {
  EXPECT_EQ(FindFilesystem("ext4,nodelalloc")->name, "ext4-nodelalloc");
  EXPECT_EQ(FindFilesystem("ext4-journal")->model, "ext4-journal");
  const auto own = FindFilesystem("ext4-writeback,nodelalloc");
  ASSERT_TRUE(own);
  EXPECT_EQ(own->options, "data=writeback,nodelalloc");
  EXPECT_EQ(own->model, "ext4-writeback");
  EXPECT_FALSE(FindFilesystem("ntfs"));
}

TEST(ParseSchedules, LettersInAnyOrderOnce) {
  const auto schedules = ParseSchedules("F,SF");
  ASSERT_TRUE(schedules);
  EXPECT_EQ(*schedules, (std::vector<Schedule>{Schedule::kFsync, Schedule::kSync}));
  EXPECT_FALSE(ParseSchedules("X"));
  EXPECT_FALSE(ParseSchedules(""));
}

}  // namespace
}  // namespace tornfs::harness
