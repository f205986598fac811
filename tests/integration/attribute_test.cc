// Extended attributes, ACLs, flags, unnamed files and times of birth, as ops of a mount.
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/stat.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <new>
#include <string>

#include "mount_fixture.h"

namespace tornfs {
namespace {

using Strings = std::vector<std::string>;

class AttributeTest : public MountTest {};

std::string Xattr(const char* path, const char* name) {
  std::string value(4096, '\0');
  const ssize_t length = getxattr(path, name, value.data(), value.size());
  return length < 0 ? "none" : value.substr(0, static_cast<std::size_t>(length));
}

TEST_F(AttributeTest, ChangesOfAttributesAreOps) {
  InChild([] { Spew("a", "x"); });
  Record();
  InChild([] {
    EXPECT_EQ(setxattr("a", "user.x", "1", 1, 0), 0);
    EXPECT_EQ(Xattr("a", "user.x"), "1");
    EXPECT_EQ(removexattr("a", "user.x"), 0);
    EXPECT_EQ(Xattr("a", "user.x"), "none");
    const int fd = open("a", O_RDONLY);
    int flags = FS_NODUMP_FL;
    EXPECT_EQ(ioctl(fd, FS_IOC_SETFLAGS, &flags), 0);
    flags = 0;
    EXPECT_EQ(ioctl(fd, FS_IOC_GETFLAGS, &flags), 0);
    EXPECT_EQ(flags, FS_NODUMP_FL);
    close(fd);
  });
  EXPECT_EQ(Ops(), (Strings{"setxattr a", "removexattr a", "setflags a"}));
}

TEST_F(AttributeTest, AttributesAreLostUnlessSynced) {
  InChild([] { Spew("a", "x"); });
  Record();
  InChild([] {
    ASSERT_EQ(setxattr("a", "user.synced", "1", 1, 0), 0);
    const int fd = open("a", O_RDONLY);
    EXPECT_EQ(fsync(fd), 0);
    close(fd);
    ASSERT_EQ(setxattr("a", "user.unsynced", "1", 1, 0), 0);
  });
  PowerLoss(false);
  InChild([] {
    EXPECT_EQ(Xattr("a", "user.synced"), "1");
    EXPECT_EQ(Xattr("a", "user.unsynced"), "none");
  });
}

TEST_F(AttributeTest, WritesDoNotAskForCapabilitiesEachTime) {
  InChild([] { Spew("a", std::string(4096, 'x')); });
  const auto before = server().counters().requests;
  InChild([] {
    const int fd = open("a", O_WRONLY);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(pwrite(fd, "y", 1, i), 1);
    close(fd);
  });
  EXPECT_LT(server().counters().requests - before, 110U);
}

TEST_F(AttributeTest, AnUnnamedFileIsNamedAtLast) {
  Record();
  InChild([] {
    const int fd = open(".", O_TMPFILE | O_RDWR, 0640);
    ASSERT_GE(fd, 0);
    EXPECT_EQ(write(fd, "text", 4), 4);
    const std::string path = "/proc/self/fd/" + std::to_string(fd);
    EXPECT_EQ(linkat(AT_FDCWD, path.c_str(), AT_FDCWD, "a", AT_SYMLINK_FOLLOW), 0);
    close(fd);
    EXPECT_EQ(Slurp("a"), "text");
  });
  EXPECT_EQ(Ops().front(), "tmpfile ");
  PowerLoss(true);
  InChild([] { EXPECT_EQ(Slurp("a"), "text"); });
}

TEST_F(AttributeTest, AnUnnamedFileIsGoneAfterACrash) {
  InChild([] {
    const int fd = open(".", O_TMPFILE | O_RDWR, 0640);
    ASSERT_GE(fd, 0);
    EXPECT_EQ(write(fd, "text", 4), 4);
    EXPECT_EQ(fsync(fd), 0);
  });
  PowerLoss(true);
  EXPECT_EQ(engine().current().inodes(), 1U);
}

TEST_F(AttributeTest, StatxKnowsTheTimeOfBirth) {
  InChild([] {
    Spew("a", "x");
    struct statx first {};
    ASSERT_EQ(statx(AT_FDCWD, "a", 0, STATX_ALL, &first), 0);
    EXPECT_NE(first.stx_mask & STATX_BTIME, 0U);
    Spew("a", "longer");
    struct statx second {};
    ASSERT_EQ(statx(AT_FDCWD, "a", 0, STATX_ALL, &second), 0);
    EXPECT_EQ(second.stx_size, 6U);
    EXPECT_EQ(first.stx_btime.tv_sec, second.stx_btime.tv_sec);
    EXPECT_EQ(first.stx_btime.tv_nsec, second.stx_btime.tv_nsec);
  });
}

TEST_F(AttributeTest, AHandleFindsItsFile) {
  if (geteuid() != 0) GTEST_SKIP() << "needs CAP_DAC_READ_SEARCH";
  InChild([] {
    Spew("a", "text");
    alignas(file_handle) std::array<char, sizeof(file_handle) + MAX_HANDLE_SZ> room{};
    auto* const handle = new (room.data()) file_handle{};
    handle->handle_bytes = MAX_HANDLE_SZ;
    int mount = 0;
    ASSERT_EQ(name_to_handle_at(AT_FDCWD, "a", handle, &mount, 0), 0);
    ASSERT_EQ(rename("a", "b"), 0);
    const int root = open(".", O_RDONLY);
    const int fd = open_by_handle_at(root, handle, O_RDONLY);
    ASSERT_GE(fd, 0);
    char text[5] = {};
    EXPECT_EQ(read(fd, text, 4), 4);
    EXPECT_STREQ(text, "text");
  });
}

}  // namespace
}  // namespace tornfs
