// The frozen folder: what it keeps, what it copies, and what an interrupted change falls back to.
#include "journal/install_backup.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "common/fd.h"

namespace tornfs::journal {
namespace {

namespace fs = std::filesystem;

class Install : public testing::Test {
 protected:
  Install() {
    std::string path = (fs::temp_directory_path() / "tornfs-install-XXXXXX").string();
    EXPECT_NE(::mkdtemp(path.data()), nullptr);
    folder_ = path;
    fs::create_directory(folder_ / "prepares-1");
    Put("00000000000000000000.log", "segment");
    Put("prepares-1/frontier", "old frontier");
    Put("prepares-1/prepares-0.wal", "records");
    Put("prepares-1/lock", "");
    Put("offsets.tmp", "scratch");
  }
  ~Install() override { fs::remove_all(folder_); }

  void Put(const std::string& name, const std::string& text) {
    ASSERT_TRUE(WriteFile((folder_ / name).string(), text));
  }
  std::string Get(const std::string& name) {
    return ReadFile((folder_ / name).string()).value_or("(missing)");
  }
  bool SameInode(const std::string& a, const std::string& b) {
    return fs::equivalent(folder_ / a, folder_ / b);
  }

  // What a transfer does after Begin.
  void Replace() {
    ASSERT_TRUE(InstallBackup(folder_.string()).Clear());
    fs::create_directory(folder_ / "prepares-2");
    Put("prepares-2/frontier", "new frontier");
  }

  fs::path folder_;
};

TEST_F(Install, TheFrontierIsCopiedAndTheRestIsLinked) {
  ASSERT_TRUE(InstallBackup(folder_.string()).Begin());
  EXPECT_FALSE(SameInode("prepares-1/frontier", ".install-backup/prepares-1/frontier"));
  EXPECT_TRUE(SameInode("prepares-1/prepares-0.wal", ".install-backup/prepares-1/prepares-0.wal"));
  EXPECT_FALSE(fs::exists(folder_ / ".install-backup/offsets.tmp"));
  EXPECT_FALSE(fs::exists(folder_ / ".install-building"));
  EXPECT_EQ(InstallBackup(folder_.string()).Begin().error().kind, ErrorKind::kInvalid);
}

TEST_F(Install, interrupted_install_restores_segments_offsets_and_wal_together) {
  ASSERT_TRUE(InstallBackup(folder_.string()).Begin());
  Put("prepares-1/frontier", "overwritten in place");
  Replace();
  EXPECT_EQ(InstallBackup(folder_.string()).Recover(), true);
  EXPECT_EQ(Get("prepares-1/frontier"), "old frontier");
  EXPECT_EQ(Get("prepares-1/prepares-0.wal"), "records");
  EXPECT_EQ(Get("00000000000000000000.log"), "segment");
  EXPECT_FALSE(fs::exists(folder_ / "prepares-2"));
  EXPECT_FALSE(InstallBackup(folder_.string()).Pending());
  EXPECT_EQ(InstallBackup(folder_.string()).Recover(), false);
}

TEST_F(Install, completed_install_never_restores_the_old_materialization) {
  ASSERT_TRUE(InstallBackup(folder_.string()).Begin());
  Replace();
  ASSERT_TRUE(InstallBackup(folder_.string()).Finish());
  // A crash right behind the commit: the retired folder is still there.
  fs::create_directory(folder_ / ".install-retired");
  EXPECT_EQ(InstallBackup(folder_.string()).Recover(), false);
  EXPECT_EQ(Get("prepares-2/frontier"), "new frontier");
  EXPECT_FALSE(fs::exists(folder_ / ".install-retired"));
  EXPECT_FALSE(fs::exists(folder_ / "prepares-1"));
}

TEST_F(Install, AnUnfinishedFreezeIsThrownAway) {
  fs::create_directories(folder_ / ".install-building/prepares-1");
  EXPECT_EQ(InstallBackup(folder_.string()).Recover(), false);
  EXPECT_FALSE(fs::exists(folder_ / ".install-building"));
  EXPECT_EQ(Get("prepares-1/frontier"), "old frontier");
}

TEST_F(Install, CopiesShareNothing) {
  const std::string to = (folder_ / "copy").string();
  ASSERT_TRUE(CopyFolder((folder_ / "prepares-1").string(), to));
  EXPECT_FALSE(SameInode("prepares-1/prepares-0.wal", "copy/prepares-0.wal"));
  EXPECT_EQ(Get("copy/frontier"), "old frontier");
  EXPECT_FALSE(fs::exists(folder_ / "copy/lock"));
  EXPECT_EQ(CopyFolder((folder_ / "prepares-1").string(), to).error().kind, ErrorKind::kInvalid);
}

}  // namespace
}  // namespace tornfs::journal
