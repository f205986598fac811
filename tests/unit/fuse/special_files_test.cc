#include "fusefs/fuse/special_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fusefs/fuse/node_table.h"
#include "fusefs/fuse/server.h"

namespace tornfs {
namespace {

class SpecialFilesTest : public testing::Test {
 protected:
  SpecialFilesTest()
      : store_(ContentStore::Open({}).value()),
        engine_(*store_, *FindModel("posix").value(), [] { return Nanoseconds{1}; }) {
    engine_.Load(engine_.Snapshot(), true);
  }
  void Append(std::string_view text) {
    files_.Append(engine_, std::as_bytes(std::span(text.data(), text.size())));
  }
  [[nodiscard]] std::vector<std::string> Lines() const {
    std::vector<std::string> lines;
    for (const Promise& promise : engine_.recording()->promises) lines.push_back(promise.line);
    return lines;
  }

  std::unique_ptr<ContentStore> store_;
  Engine engine_;
  SpecialFiles files_;
};

TEST_F(SpecialFilesTest, ALineCountsAtItsNewline) {
  Append("one\ntw");
  EXPECT_EQ(Lines(), std::vector<std::string>{"one"});
  Append("o\n\nthree");
  EXPECT_EQ(Lines(), (std::vector<std::string>{"one", "two", ""}));
  EXPECT_EQ(files_.TakeStdout(), "one\ntwo\n\nthree");
  Append("!\n");
  EXPECT_EQ(Lines().back(), "three!");
  EXPECT_EQ(files_.TakeStdout(), "!\n");
}

TEST_F(SpecialFilesTest, AnUnfinishedLineEndsWithItsEpoch) {
  Append("half");
  files_.BeginEpoch();
  Append("whole\n");
  EXPECT_EQ(Lines(), std::vector<std::string>{"whole"});
}

TEST_F(SpecialFilesTest, OnlyTheRootHasThem) {
  EXPECT_EQ(SpecialFiles::Find(kRootIno, kStdoutName), NodeTable::kStdoutIno);
  EXPECT_EQ(SpecialFiles::Find(kRootIno, kPromisesName), NodeTable::kPromisesIno);
  EXPECT_FALSE(SpecialFiles::Find(kRootIno, ".tornfs-other"));
  EXPECT_FALSE(SpecialFiles::Find(2, kStdoutName));
}

TEST_F(SpecialFilesTest, PromisesAreReadOnlyAndRememberReaders) {
  files_.SetPromises("ack 1\n");
  EXPECT_FALSE(files_.promises_were_read());
  EXPECT_FALSE(files_.Open(NodeTable::kPromisesIno, O_WRONLY));
  EXPECT_FALSE(files_.promises_were_read());
  EXPECT_TRUE(files_.Open(NodeTable::kPromisesIno, O_RDONLY));
  EXPECT_TRUE(files_.promises_were_read());
  EXPECT_EQ(files_.Content(NodeTable::kPromisesIno), "ack 1\n");
  files_.SetPromises("");
  EXPECT_FALSE(files_.promises_were_read());
}

TEST_F(SpecialFilesTest, StdioSeesAFileThatWantsSmallWrites) {
  EXPECT_EQ(files_.Stat(NodeTable::kStdoutIno).st_blksize, 1);
}

}  // namespace
}  // namespace tornfs
