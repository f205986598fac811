// The `journal` program from outside: real files, real processes, its exit codes and its lines.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "common/fd.h"
#include "journal/format.h"
#include "journal/posix_storage.h"

namespace tornfs::journal {
namespace {

namespace fs = std::filesystem;

struct Outcome {
  int code = -1;
  std::string output;  // Both streams.
};

class Program : public testing::Test {
 protected:
  Program() {
    std::string path = (fs::temp_directory_path() / "journal.XXXXXX").string();
    EXPECT_NE(::mkdtemp(path.data()), nullptr);
    folder_ = path;
  }
  ~Program() override { fs::remove_all(folder_); }

  // Runs the program in the test's own folder; `{}` is the program in `command`.
  Outcome Shell(std::string command) const {
    for (std::size_t at = 0; (at = command.find("{}")) != std::string::npos;) {
      command.replace(at, 2, JOURNAL_PROGRAM);
    }
    command = "cd " + folder_.string() + " && { " + command + " ; } 2>&1";
    Outcome run;
    FILE* pipe = ::popen(command.c_str(), "r");
    std::array<char, 4096> buffer;
    while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
      run.output.append(buffer.data(), n);
    }
    const int status = ::pclose(pipe);
    run.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    return run;
  }

  void ExpectUsageError(const std::string& arguments) const {
    const Outcome run = Shell("{} " + arguments + " </dev/null");
    EXPECT_EQ(run.code, 2) << arguments;
    EXPECT_EQ(run.output.find('\n'), run.output.size() - 1) << run.output;
    EXPECT_EQ(run.output.rfind("journal: ", 0), 0U) << run.output;
  }

  std::string Contents(const std::string& name) const {
    return ReadFile((folder_ / "j" / name).string()).value_or("<missing>");
  }

  fs::path folder_;
};

TEST_F(Program, AppendReadRecoverVerify) {
  const Outcome append =
      Shell("printf 'one\\n\\nthree' | {} append --dir j --group 2 | tee promises");
  EXPECT_EQ(append.code, 0);
  EXPECT_EQ(append.output.substr(0, 6), "ack 1 ");
  EXPECT_EQ(Shell("{} read --dir j").output, "one\n\nthree\n");
  const Outcome recover = Shell("{} recover --dir j | sed s/durable/ack/ | cmp - promises");
  EXPECT_EQ(recover.code, 0) << recover.output;
  const Outcome verify = Shell("{} verify --dir j --promises promises");
  EXPECT_EQ(verify.code, 0);
  EXPECT_EQ(verify.output, "good: head 3, checkpoint 0\n");
}

TEST_F(Program, PrefixedRecordsComeBackAsTheyWent) {
  const Outcome run = Shell(
      "printf '\\003\\000\\000\\000a\\nb\\000\\000\\000\\000' > in; "
      "{} append --dir j --length-prefixed < in > acks; {} read --dir j --length-prefixed | cmp - "
      "in");
  EXPECT_EQ(run.code, 0) << run.output;
}

TEST_F(Program, BrokenPromisesAreNamed) {
  const Outcome run = Shell(
      "echo x | {} append --dir j > promises; echo 'ack 9 00000000000000ab' >> promises; "
      "{} verify --dir j --promises promises");
  EXPECT_EQ(run.code, 1);
  EXPECT_EQ(run.output, "op 9 was acknowledged with 00000000000000ab and is missing (head is 1)\n");
}

TEST_F(Program, ReadersCreateNothing) {
  for (const char* command : {"verify", "read", "dump", "stat"}) {
    const Outcome run = Shell(std::string("{} ") + command + " --dir j");
    EXPECT_EQ(run.code, 0) << run.output;
    EXPECT_FALSE(fs::exists(folder_ / "j"));
  }
  fs::create_directory(folder_ / "j");
  for (const char* command : {"verify", "read", "dump", "stat"}) {
    EXPECT_EQ(Shell(std::string("{} ") + command + " --dir j").code, 0);
    EXPECT_TRUE(fs::is_empty(folder_ / "j"));
  }
}

TEST_F(Program, CheckpointTruncateCertify) {
  const Outcome run = Shell(
      "printf 'a\\nb\\nc\\nd\\n' | {} append --dir j > p && {} checkpoint --dir j --op 2 >> p && "
      "{} certify --dir j --view 3 >> p && {} truncate --dir j --from 4 >> p && "
      "echo e | {} append --dir j >> p && {} verify --dir j --promises p && {} read --dir j");
  EXPECT_EQ(run.code, 0);
  EXPECT_EQ(run.output, "good: head 4, checkpoint 2\nb\nc\ne\n");
  EXPECT_EQ(Shell("{} truncate --dir j --from 2").code, 1);
  EXPECT_EQ(Shell("{} checkpoint --dir j --op 9").code, 1);
}

TEST_F(Program, CheckpointCarriesTheLastPartialGroup) {
  const Outcome run = Shell("seq 9 | {} append --dir j --group 4 --checkpoint 3 | cut -c 1-6");
  EXPECT_EQ(run.output,
            "ack 1 \nack 2 \nack 3 \nack 4 \nack 5 \nack 6 \nack 7 \nack 8 \nack 9 \ncheckp\n");
  EXPECT_EQ(Shell("{} read --dir j | head -1").output, "3\n");
  EXPECT_EQ(Shell("seq 2 | {} append --dir j --group 4 --checkpoint 3 | wc -l").output, "3\n");
  EXPECT_EQ(Shell("{} verify --dir j").output, "good: head 11, checkpoint 3\n");
}

TEST_F(Program, DumpDescribesWhatCannotBeOpened) {
  ASSERT_EQ(Shell("echo x | {} append --dir j >/dev/null").code, 0);
  EXPECT_EQ(Shell("{} dump --dir j").code, 0);
  fs::remove(folder_ / "j" / "prepares-0.wal");
  const Outcome run = Shell("{} dump --dir j");
  EXPECT_EQ(run.code, 1);
  EXPECT_NE(run.output.find("refused: prepares-0.wal, which the frontier names, is missing"),
            std::string::npos);
}

TEST_F(Program, UsageErrorsAreOneLineAndTwo) {
  for (const char* arguments :
       {"", "bogus", "append", "append --dir", "append --dir j --grou 2",
        "append --dir j --group 0", "append --dir j --group x", "append --dir j --without nothing",
        "append --dir j extra", "append --dir j --capacity 1x",
        "verify --dir j --without lock-directory", "verify --dir j --promises missing",
        "checkpoint --dir j", "truncate --dir j", "certify --dir j",
        "certify --dir j --view 4294967296", "truncate --dir j --from 0"}) {
    ExpectUsageError(arguments);
  }
}

TEST_F(Program, HelpIsOnStandardOutput) {
  for (const char* command : {"", "append", "recover", "certify", "checkpoint", "truncate",
                              "verify", "read", "dump", "stat"}) {
    const Outcome run = Shell(std::string("{} ") + command + " --help 2>/dev/null");
    EXPECT_EQ(run.code, 0) << command;
    EXPECT_EQ(run.output.rfind("usage: journal", 0), 0U);
  }
}

TEST_F(Program, JsonIsOneObjectPerLine) {
  EXPECT_EQ(Shell("echo x | {} append --dir j --json").output.rfind("{\"ack\":{\"op\":1,", 0), 0U);
  EXPECT_EQ(Shell("{} verify --dir j --json").output,
            "{\"good\":true,\"summary\":\"good: head 1, checkpoint 0\"}\n");
  EXPECT_EQ(Shell("{} recover --dir j --json --group-id 7")
                .output.rfind("{\"error\":{\"code\":\"identity\",", 0),
            0U);
  for (const char* command : {"dump", "stat"}) {
    const std::string line = Shell(std::string("{} ") + command + " --json --dir j").output;
    EXPECT_EQ(line.find('\n'), line.size() - 1);
  }
}

TEST_F(Program, ASecondWriterIsTurnedAway) {
  ASSERT_EQ(Shell("{} append --dir j </dev/null").code, 0);
  PosixStorage holder((folder_ / "j").string());
  ASSERT_TRUE(holder.Lock(std::string(kLockName)));
  const Outcome locked = Shell("{} recover --dir j");
  EXPECT_EQ(locked.code, 1);
  EXPECT_EQ(locked.output, "journal: j is locked by another process\n");
  EXPECT_EQ(Shell("{} verify --dir j").code, 0);
  EXPECT_EQ(Shell("{} recover --dir j --without lock-directory").code, 0);
}

// Real files cut to every length: one line, exit code 1, nothing changed.
// With so few descriptors the program starts, and some call of the journal fails.
TEST_F(Program, ExhaustedDescriptorsAreAnErrorAndLoseNothing) {
  ASSERT_EQ(Shell("seq 3 | {} append --dir j").code, 0);
  bool failed = false;
  for (int most = 4; most <= 9; ++most) {
    const Outcome run = Shell("ulimit -n " + std::to_string(most) + "; echo x | {} append --dir j");
    failed |= run.output.find("Too many open files") != std::string::npos;
    const Outcome after =
        Shell("echo '" + run.output + "' > promises; {} verify --dir j --promises promises");
    EXPECT_EQ(after.code, 0) << most << after.output;
  }
  EXPECT_TRUE(failed);
}

TEST_F(Program, DamagedFilesAreRefusedUntouched) {
  ASSERT_EQ(Shell("printf 'a\\nb\\nc\\n' | {} append --dir j >/dev/null").code, 0);
  const std::string frontier = Contents("frontier");
  const std::string data = Contents("prepares-0.wal");
  for (const std::string name : {"frontier", "prepares-0.wal"}) {
    for (std::size_t size = 0; size <= 12288; size += 512) {
      std::string bytes = name == "frontier" ? frontier : data;
      if (size == bytes.size()) continue;
      bytes.resize(size);
      ASSERT_TRUE(WriteFile((folder_ / "j" / name).string(), bytes));
      for (const char* command : {"append", "recover", "verify", "read", "stat"}) {
        const Outcome run = Shell(std::string("{} ") + command + " --dir j </dev/null");
        EXPECT_EQ(run.code, 1) << command << " " << name << " " << size;
        EXPECT_EQ(run.output.find('\n'), run.output.size() - 1) << run.output;
      }
      EXPECT_EQ(Shell("{} dump --dir j >/dev/null").code, 1);
      EXPECT_EQ(Contents(name), bytes);
    }
    ASSERT_TRUE(WriteFile((folder_ / "j" / "frontier").string(), frontier));
    ASSERT_TRUE(WriteFile((folder_ / "j" / "prepares-0.wal").string(), data));
  }
  EXPECT_EQ(Shell("{} verify --dir j").code, 0);
}

}  // namespace
}  // namespace tornfs::journal
