// Names, attributes and links on a real mount.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "mount_fixture.h"

namespace tornfs {
namespace {

class BasicTest : public MountTest {};

TEST_F(BasicTest, FilesKeepWhatWasWritten) {
  InChild([] {
    Spew("a", "hello");
    EXPECT_EQ(Slurp("a"), "hello");
    const auto file = OpenFile("a", O_RDWR | O_APPEND);
    ASSERT_TRUE(file);
    EXPECT_TRUE(WriteAll(file->get(), " world"));
    EXPECT_EQ(Slurp("a"), "hello world");
  });
  EXPECT_EQ(Ops(), (std::vector<std::string>{"create a", "write a 5@0", "write a 6@5"}));
}

TEST_F(BasicTest, AttributesAreThoseOfTheEngine) {
  InChild([] {
    umask(022);
    Spew("a", "12345");
    struct stat found {};
    ASSERT_EQ(stat("a", &found), 0);
    EXPECT_EQ(found.st_mode, static_cast<mode_t>(S_IFREG | 0644));
    EXPECT_EQ(found.st_size, 5);
    EXPECT_EQ(found.st_nlink, 1U);
    EXPECT_EQ(found.st_ino, 2U);
    ASSERT_EQ(chmod("a", 0600), 0);
    ASSERT_EQ(chown("a", 12, 34), 0);
    const timespec times[2] = {{100, 5}, {200, 7}};
    ASSERT_EQ(utimensat(AT_FDCWD, "a", times, 0), 0);
    ASSERT_EQ(stat("a", &found), 0);
    EXPECT_EQ(found.st_mode & 07777U, 0600U);
    EXPECT_EQ(found.st_uid, 12U);
    EXPECT_EQ(found.st_gid, 34U);
    EXPECT_EQ(found.st_atim.tv_sec, 100);
    EXPECT_EQ(found.st_mtim.tv_nsec, 7);
    ASSERT_EQ(utimensat(AT_FDCWD, "a", nullptr, 0), 0);
    ASSERT_EQ(stat("a", &found), 0);
    EXPECT_EQ(found.st_mtim.tv_sec, found.st_ctim.tv_sec);
    EXPECT_EQ(found.st_mtim.tv_nsec, found.st_ctim.tv_nsec);
    ASSERT_EQ(stat(".", &found), 0);
    EXPECT_EQ(found.st_ino, 1U);
  });
}

TEST_F(BasicTest, DirectoriesLinksAndTargets) {
  InChild([] {
    ASSERT_EQ(mkdir("d", 0755), 0);
    Spew("d/a", "x");
    ASSERT_EQ(link("d/a", "b"), 0);
    struct stat found {};
    ASSERT_EQ(stat("d/a", &found), 0);
    EXPECT_EQ(found.st_nlink, 2U);
    ASSERT_EQ(symlink("d/a", "s"), 0);
    EXPECT_EQ(Slurp("s"), "x");
    char target[16] = {};
    EXPECT_EQ(readlink("s", target, sizeof target), 3);
    EXPECT_EQ(rmdir("d"), -1);
    EXPECT_EQ(errno, ENOTEMPTY);
    ASSERT_EQ(unlink("d/a"), 0);
    ASSERT_EQ(rmdir("d"), 0);
    EXPECT_EQ(Slurp("b"), "x");
    EXPECT_EQ(open("s", O_RDONLY), -1);
    EXPECT_EQ(errno, ENOENT);
  });
}

TEST_F(BasicTest, SpecialNodesAreMade) {
  InChild([] {
    ASSERT_EQ(mkfifo("f", 0600), 0);
    struct stat found {};
    ASSERT_EQ(stat("f", &found), 0);
    EXPECT_TRUE(S_ISFIFO(found.st_mode));
  });
  EXPECT_EQ(Ops(), std::vector<std::string>{"mknod f"});
}

TEST_F(BasicTest, RenameKnowsItsFlags) {
  InChild([] {
    Spew("a", "A");
    Spew("b", "B");
    EXPECT_EQ(renameat2(AT_FDCWD, "a", AT_FDCWD, "b", RENAME_NOREPLACE), -1);
    EXPECT_EQ(errno, EEXIST);
    ASSERT_EQ(renameat2(AT_FDCWD, "a", AT_FDCWD, "b", RENAME_EXCHANGE), 0);
    EXPECT_EQ(Slurp("a"), "B");
    EXPECT_EQ(Slurp("b"), "A");
    ASSERT_EQ(rename("a", "b"), 0);
    EXPECT_EQ(Slurp("b"), "B");
    EXPECT_EQ(access("a", F_OK), -1);
    if (geteuid() != 0) return;  // A whiteout is a device node.
    EXPECT_EQ(renameat2(AT_FDCWD, "b", AT_FDCWD, "c", RENAME_WHITEOUT), 0);
    EXPECT_EQ(Slurp("c"), "B");
    struct stat found {};
    ASSERT_EQ(stat("b", &found), 0);
    EXPECT_TRUE(S_ISCHR(found.st_mode));
    EXPECT_EQ(found.st_rdev, 0U);
  });
}

TEST_F(BasicTest, AnUnlinkedFileLivesWhileItIsOpen) {
  InChild([] {
    Spew("a", "data");
    const int fd = open("a", O_RDWR);
    ASSERT_GE(fd, 0);
    ASSERT_EQ(unlink("a"), 0);
    struct stat found {};
    ASSERT_EQ(fstat(fd, &found), 0);
    EXPECT_EQ(found.st_nlink, 0U);
    EXPECT_EQ(pwrite(fd, "DA", 2, 0), 2);
    char bytes[5] = {};
    EXPECT_EQ(pread(fd, bytes, 4, 0), 4);
    EXPECT_STREQ(bytes, "DAta");
    EXPECT_EQ(fsync(fd), 0);
    EXPECT_EQ(close(fd), 0);
  });
  // The kernel lets go a moment after the last close.
  EXPECT_TRUE(server().loop().RunUntil([&] { return engine().current().inodes() == 1; },
                                       EventLoop::Clock::now() + std::chrono::seconds(10)));
}

TEST_F(BasicTest, GroupsAreInheritedBelowASetgidDirectory) {
  InChild([] {
    ASSERT_EQ(mkdir("d", 0755), 0);
    ASSERT_EQ(chown("d", 0, 77), 0);
    ASSERT_EQ(chmod("d", 02755), 0);
    Spew("d/a", "");
    ASSERT_EQ(mkdir("d/e", 0755), 0);
    struct stat found {};
    ASSERT_EQ(stat("d/a", &found), 0);
    EXPECT_EQ(found.st_gid, 77U);
    ASSERT_EQ(stat("d/e", &found), 0);
    EXPECT_EQ(found.st_gid, 77U);
    EXPECT_NE(found.st_mode & S_ISGID, 0U);
  });
}

TEST_F(BasicTest, StatvfsTellsTheLimits) {
  InChild([] {
    struct statvfs found {};
    ASSERT_EQ(statvfs(".", &found), 0);
    EXPECT_EQ(found.f_namemax, 255U);
  });
}

TEST_F(BasicTest, ExecutableBitsCountForRootToo) {
  InChild([] {
    Spew("a", "");
    ASSERT_EQ(chmod("a", 0644), 0);
    EXPECT_EQ(access("a", X_OK), -1);
    EXPECT_EQ(access("a", R_OK | W_OK), 0);
    ASSERT_EQ(chmod("a", 0755), 0);
    EXPECT_EQ(access("a", X_OK), 0);
  });
}

class SharedMountTest : public MountTest {
 protected:
  static MountOptions Shared() {
    MountOptions options;
    options.allow_other = true;
    return options;
  }
  SharedMountTest() : MountTest(Shared()) {}
};

TEST_F(SharedMountTest, OtherUsersAreHeldToModeBits) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  InChild([] {
    ASSERT_EQ(chmod(".", 0777), 0);
    Spew("mine", "x");
    ASSERT_EQ(chmod("mine", 0600), 0);
    ASSERT_EQ(setgid(65534), 0);
    ASSERT_EQ(setuid(65534), 0);
    EXPECT_EQ(open("mine", O_RDONLY), -1);
    EXPECT_EQ(errno, EACCES);
    Spew("theirs", "y");
    struct stat found {};
    ASSERT_EQ(stat("theirs", &found), 0);
    EXPECT_EQ(found.st_uid, 65534U);
  });
}

TEST_F(SharedMountTest, WritingByOthersClearsSetuid) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  InChild([] {
    Spew("a", "x");
    ASSERT_EQ(chmod("a", 06777), 0);
    ASSERT_EQ(setgid(65534), 0);
    ASSERT_EQ(setuid(65534), 0);
    const int fd = open("a", O_WRONLY);
    ASSERT_GE(fd, 0);
    ASSERT_EQ(write(fd, "y", 1), 1);
    struct stat found {};
    ASSERT_EQ(fstat(fd, &found), 0);
    EXPECT_EQ(found.st_mode & 07777U, 0777U);
  });
}

}  // namespace
}  // namespace tornfs
