#include "harness/calibrate/program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

#include "harness/device/filesystem.h"
#include "harness/device/schedule.h"
#include "harness/device/step_runner.h"
#include "harness/device/tree_text.h"
#include "unit/harness/temp_dir.h"

namespace tornfs::harness {
namespace {

TEST(CalibrationProgram, IsReadFromLitmusFiles) {
  const auto program = ParseLitmusSteps(
      "# About it.\ntear: sector\nsetup\n  write f o*10  # old\nrun\n  rename f g\n\n  fsync g\n"
      "observe g N=o*10\nallow posix: N\n",
      "x");
  ASSERT_TRUE(program) << program.error().Message();
  EXPECT_EQ(program->name, "x");
  EXPECT_TRUE(program->sectors);
  EXPECT_EQ(program->setup, (std::vector<StepWords>{{"write", "f", "o*10"}}));
  EXPECT_EQ(program->main, (std::vector<StepWords>{{"rename", "f", "g"}, {"fsync", "g"}}));
  EXPECT_FALSE(ParseLitmusSteps("run\n  fly f\n", "x"));
  EXPECT_FALSE(ParseLitmusSteps("run\n  rename f\n", "x"));
  EXPECT_FALSE(ParseLitmusSteps("setup\n  create f\n", "x"));
}

TEST(CalibrationProgram, IsReadFromJson) {
  const auto programs = ParseProgramsJson(
      R"([{"name": "x", "setup": [["mk", "f", "o", 10]], "seen": {},
           "main": [["ren", "f", "g"], ["op", "g", 514], ["w", "g", "n", 5, 0], ["fsyncdir"],
                    ["mark", "done"], ["close", "g"]]}])");
  ASSERT_TRUE(programs) << programs.error().Message();
  ASSERT_EQ(programs->size(), 1U);
  EXPECT_EQ(programs->front().setup,
            (std::vector<StepWords>{{"create", "f"}, {"write", "f", "o*10"}, {"close", "f"}}));
  EXPECT_EQ(programs->front().main, (std::vector<StepWords>{{"rename", "f", "g"},
                                                            {"truncate", "g", "0"},
                                                            {"write", "g", "n*5", "@0"},
                                                            {"fsync", "."},
                                                            {"close", "g"}}));
}

TEST(CalibrationProgram, MistakesInJsonAreNamed) {
  for (const char* text : {
           "{}",
           R"([{"setup": [], "main": []}])",
           R"([{"name": "x", "setup": []}])",
           R"([{"name": "x", "setup": [], "main": [["fly", "f"]]}])",
           R"([{"name": "x", "setup": [], "main": [["ren", "f"]]}])",
           R"([{"name": "x", "setup": [], "main": [["w", "f", "n", -1]]}])",
           R"([{"name": "x", "setup": [], "main": ["ren f g"]}])",
       }) {
    const auto programs = ParseProgramsJson(text);
    ASSERT_FALSE(programs) << text;
    EXPECT_EQ(programs.error().code, ErrorCode::kInvalid) << text;
  }
}

TEST(BytesOfRuns, RunsWithZerosAsNul) {
  EXPECT_EQ(*BytesOfRuns("a*3,0*2,b"), std::string("aaa\0\0b", 6));
  for (const char* text : {"a*", "*3", "a*3x", "a*99999999", "ab"}) {
    EXPECT_FALSE(BytesOfRuns(text)) << text;
  }
}

// Runs steps in a directory of the machine and says what came of it.
std::string TreeAfter(const std::string& steps) {
  const TempDir directory;
  const mode_t old = ::umask(022);
  auto program = ParseLitmusSteps("run\n" + steps, "x");
  if (!program) return program.error().Message();
  auto runner = StepRunner::Open(directory.path());
  if (!runner) return runner.error().Message();
  Status done = {};
  for (const StepWords& step : program->main) {
    if (done) done = runner->Run(step);
  }
  (void)::umask(old);
  if (!done) return done.error().Message();
  return ReadTreeText(directory.path()).value_or("unreadable");
}

TEST(StepRunner, MakesTheTreeItsStepsDescribe) {
  EXPECT_EQ(TreeAfter(" write f o*4096\n write g a*3\n mkdir d\n create d/e\n"),
            "{d=D; d/e=F[]; f=F[o*4096]; g=F[a*3]}");
  EXPECT_EQ(TreeAfter(" write f a*5\n write f b*5\n write f c*2 @1 dsync\n write f d @12 sync\n"),
            "{f=F[a*1 c*2 a*2 b*5 0*2 d*1]}");
  EXPECT_EQ(TreeAfter(" write f a*9\n truncate f 4\n truncate f 6\n link f l\n chmod f 600\n"),
            "{f=F[a*4 0*2] nl2 m600; l=F[a*4 0*2] nl2 m600}");
  EXPECT_EQ(TreeAfter(" mkdir d\n rmdir d\n create f\n allocate f 0 100 keep\n unlink f\n sync\n"),
            "{}");
  EXPECT_EQ(TreeAfter(" write f a*8\n store f b*2 @3\n create g\n copy f g\n symlink g s\n"),
            "{f=F[a*3 b*2 a*3]; g=F[a*3 b*2 a*3]; s=L[g]}");
}

TEST(StepRunner, AnOpenFileGoesWithItsName) {
  EXPECT_EQ(TreeAfter(" create t\n rename t f\n write f n*4\n fsync f\n fdatasync f\n fsync .\n"
                      " close f\n"),
            "{f=F[n*4]}");
}

TEST(StepRunner, AFileWithoutANameGetsOneByALink) {
  EXPECT_EQ(TreeAfter(" tmpfile t\n write t n*4\n fsync t\n"), "{}");
  EXPECT_EQ(TreeAfter(" tmpfile t\n write t n*4\n link t f\n write t o*2\n fdatasync t\n"),
            "{f=F[n*4 o*2]}");
  EXPECT_NE(TreeAfter(" tmpfile t\n write t n*4 sync\n").find("has no name"), std::string::npos);
}

TEST(StepRunner, AFailedCallIsAnError) {
  EXPECT_NE(TreeAfter(" rename none f\n").find("rename none f"), std::string::npos);
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
