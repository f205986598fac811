// The hidden files: standard output and promises.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "mount_fixture.h"

namespace tornfs {
namespace {

using Strings = std::vector<std::string>;

class SpecialTest : public MountTest {
 protected:
  // Runs `script` in a shell with its standard output in the hidden file.
  void Shell(const std::string& script) {
    InChild([&] {
      const int out = open(kStdoutName, O_WRONLY);
      ASSERT_GE(out, 0);
      ASSERT_EQ(dup2(out, 1), 1);
      execl("/bin/sh", "sh", "-c", script.c_str(), nullptr);
      _exit(127);
    });
  }
  // The history as "op" and "promise" lines in order.
  Strings History() {
    Strings history;
    const Recording& recording = *engine().recording();
    auto promise = recording.promises.begin();
    for (const Op& op : recording.ops) {
      for (; promise != recording.promises.end() && promise->cut <= op.number; ++promise) {
        history.push_back("promise " + promise->line);
      }
      history.push_back(std::string(OpKindName(op.kind)) + " " + op.path);
    }
    for (; promise != recording.promises.end(); ++promise) {
      history.push_back("promise " + promise->line);
    }
    return history;
  }
};

TEST_F(SpecialTest, LinesArePromisesInTheOrderOfTheOps) {
  Shell("mkdir a; echo one; printf 'two\\nth'; mkdir b; printf 'ree\\n'");
  EXPECT_EQ(History(),
            (Strings{"mkdir a", "promise one", "promise two", "mkdir b", "promise three"}));
  EXPECT_EQ(server().TakeStdout(), "one\ntwo\nthree\n");
  EXPECT_EQ(server().TakeStdout(), "");
}

TEST_F(SpecialTest, ReopeningAndRedirectingOnlyAppends) {
  Shell(
      "echo one; echo two > /dev/stdout; echo three >> /proc/self/fd/1; "
      "echo four > \"$PWD\"/.tornfs-stdout; echo five");
  EXPECT_EQ(server().TakeStdout(), "one\ntwo\nthree\nfour\nfive\n");
  EXPECT_EQ(engine().recording()->ops.size(), 0U);
}

TEST_F(SpecialTest, StdioWritesLineByLine) {
  InChild([] {
    std::FILE* out = std::fopen(kStdoutName, "w");
    ASSERT_NE(out, nullptr);
    std::fputs("ack 1\n", out);
    EXPECT_EQ(mkdir("a", 0755), 0);
    std::fputs("ack 2\n", out);
    EXPECT_EQ(mkdir("b", 0755), 0);
    std::fclose(out);
  });
  EXPECT_EQ(History(), (Strings{"promise ack 1", "mkdir a", "promise ack 2", "mkdir b"}));
}

TEST_F(SpecialTest, WhatWasWrittenCanBeRead) {
  Shell("echo one; cat .tornfs-stdout > copy; wc -c < .tornfs-stdout > count");
  InChild([] {
    EXPECT_EQ(Slurp("copy"), "one\n");
    EXPECT_EQ(Slurp("count"), "4\n");
  });
}

TEST_F(SpecialTest, TheNamesAreHiddenAndReserved) {
  InChild([] {
    DIR* list = opendir(".");
    while (const dirent* entry = readdir(list)) EXPECT_EQ(entry->d_name[0], '.');
    rewinddir(list);
    int entries = 0;
    while (readdir(list) != nullptr) ++entries;
    EXPECT_EQ(entries, 2);
    closedir(list);
    for (const char* name : {kStdoutName, kPromisesName}) {
      EXPECT_EQ(unlink(name), -1);
      EXPECT_EQ(errno, EPERM);
      EXPECT_EQ(rename(name, "x"), -1);
      EXPECT_EQ(errno, EPERM);
      EXPECT_EQ(link(name, "x"), -1);
      EXPECT_EQ(errno, EPERM);
      EXPECT_EQ(mkdir(name, 0755), -1);
      EXPECT_EQ(errno, EEXIST);
    }
    Spew("a", "");
    EXPECT_EQ(rename("a", kStdoutName), -1);
    EXPECT_EQ(errno, EPERM);
    EXPECT_EQ(chmod(kStdoutName, 0600), 0);
    EXPECT_EQ(truncate(kStdoutName, 0), 0);
  });
}

TEST_F(SpecialTest, PromisesAreServedAndReadersNoticed) {
  server().SetPromises("ack 1\nack 2\n");
  InChild([] { EXPECT_EQ(access("something else", F_OK), -1); });
  EXPECT_FALSE(server().promises_were_read());
  // The size tells something about the content.
  InChild([] {
    struct stat found {};
    EXPECT_EQ(stat(kPromisesName, &found), 0);
    EXPECT_EQ(found.st_size, 12);
  });
  EXPECT_TRUE(server().promises_were_read());
  InChild([] {
    EXPECT_EQ(Slurp(kPromisesName), "ack 1\nack 2\n");
    EXPECT_EQ(open(kPromisesName, O_WRONLY), -1);
    EXPECT_EQ(errno, EACCES);
  });
  EXPECT_TRUE(server().promises_were_read());
}

TEST_F(SpecialTest, NewPromisesAreSeenInTheNextEpoch) {
  server().SetPromises("long old text\n");
  InChild([] { EXPECT_EQ(Slurp(kPromisesName), "long old text\n"); });
  const auto child = Start([](const Child::Pause& pause) {
    const int promises = open(kPromisesName, O_RDONLY);
    const int out = open(kStdoutName, O_WRONLY);
    char byte = 0;
    EXPECT_EQ(pread(promises, &byte, 1, 0), 1);
    pause();
    EXPECT_EQ(pread(promises, &byte, 1, 0), -1);
    EXPECT_EQ(errno, EIO);
    EXPECT_EQ(write(out, "x\n", 2), -1);
    EXPECT_EQ(errno, EIO);
    EXPECT_EQ(Slurp(kPromisesName), "new\n");
  });
  child->UntilPause();
  server().SetPromises("new\n");
  PowerLoss(true);
  child->GoOn();
  child->Join();
  EXPECT_EQ(server().TakeStdout(), "");
}

}  // namespace
}  // namespace tornfs
