// Contents on a real mount: holes, fallocate, copies, truncation, barriers.
#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "mount_fixture.h"

namespace tornfs {
namespace {

class FileTest : public MountTest {
 protected:
  static int Open(const char* name) {
    const int fd = open(name, O_RDWR | O_CREAT, 0644);
    EXPECT_GE(fd, 0);
    return fd;
  }
  static std::string At(int fd, off_t offset, std::size_t length) {
    std::string text(length, '\0');
    const ssize_t got = pread(fd, text.data(), length, offset);
    EXPECT_GE(got, 0);
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return text;
  }
  static off_t SizeOf(int fd) {
    struct stat found {};
    EXPECT_EQ(fstat(fd, &found), 0);
    return found.st_size;
  }
};

TEST_F(FileTest, HolesReadAsZerosAndAreFound) {
  InChild([] {
    const int fd = Open("a");
    ASSERT_EQ(pwrite(fd, "end", 3, 1 << 20), 3);
    EXPECT_EQ(At(fd, 4096, 4), std::string(4, '\0'));
    EXPECT_EQ(lseek(fd, 0, SEEK_HOLE), 0);
    EXPECT_EQ(lseek(fd, 0, SEEK_DATA), 1 << 20);
    EXPECT_EQ(lseek(fd, 1 << 20, SEEK_HOLE), (1 << 20) + 3);
    EXPECT_EQ(lseek(fd, (1 << 20) + 3, SEEK_DATA), -1);
    EXPECT_EQ(errno, ENXIO);
  });
}

TEST_F(FileTest, LargeFragmentedReadsArriveWhole) {
  InChild([] {
    const int fd = Open("a");
    std::string expected(1 << 20, '\0');
    for (off_t at = 0; at < 1 << 20; at += 600) {
      ASSERT_EQ(pwrite(fd, "x", 1, at), 1);
      expected[static_cast<std::size_t>(at)] = 'x';
    }
    ASSERT_EQ(ftruncate(fd, 1 << 20), 0);
    ASSERT_EQ(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
    EXPECT_TRUE(At(fd, 0, 1 << 20) == expected);
  });
}

TEST_F(FileTest, CopyFileRangeCopiesInTheServer) {
  InChild([] {
    const int from = Open("a");
    const int to = Open("b");
    ASSERT_EQ(pwrite(from, "0123456789", 10, 0), 10);
    off_t at = 2;
    off_t target = 4096;
    EXPECT_EQ(copy_file_range(from, &at, to, &target, 5, 0), 5);
    EXPECT_EQ(At(to, 4096, 10), "23456");
    EXPECT_EQ(SizeOf(to), 4101);
  });
  EXPECT_EQ(Ops().back(), "copy_file_range b 5@4096");
}

TEST_F(FileTest, FallocateKnowsItsModes) {
  InChild([] {
    const int fd = Open("a");
    ASSERT_EQ(pwrite(fd, "0123456789", 10, 0), 10);
    ASSERT_EQ(fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 8192), 0);
    EXPECT_EQ(SizeOf(fd), 10);
    ASSERT_EQ(fallocate(fd, 0, 0, 8192), 0);
    EXPECT_EQ(SizeOf(fd), 8192);
    ASSERT_EQ(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 2, 3), 0);
    EXPECT_EQ(At(fd, 0, 10), std::string("01\0\0\0"
                                         "56789",
                                         10));
    ASSERT_EQ(fallocate(fd, FALLOC_FL_ZERO_RANGE, 6, 2), 0);
    EXPECT_EQ(At(fd, 0, 10), std::string("01\0\0\0"
                                         "5\0\0"
                                         "89",
                                         10));
    EXPECT_EQ(fallocate(fd, FALLOC_FL_COLLAPSE_RANGE, 0, 4096), -1);
    EXPECT_EQ(errno, EOPNOTSUPP);
  });
}

TEST_F(FileTest, TruncationDropsAndZeros) {
  InChild([] {
    const int fd = Open("a");
    ASSERT_EQ(pwrite(fd, "0123456789", 10, 0), 10);
    ASSERT_EQ(ftruncate(fd, 4), 0);
    ASSERT_EQ(ftruncate(fd, 8), 0);
    EXPECT_EQ(At(fd, 0, 10), std::string("0123\0\0\0\0", 8));
    ASSERT_EQ(truncate("a", 0), 0);
    EXPECT_EQ(SizeOf(fd), 0);
    ASSERT_EQ(pwrite(fd, "abc", 3, 0), 3);
    EXPECT_GE(open("a", O_WRONLY | O_TRUNC), 0);
    EXPECT_EQ(SizeOf(fd), 0);
    EXPECT_EQ(At(fd, 0, 10), "");
  });
}

TEST_F(FileTest, BarriersAreOpsAndMakeDurable) {
  InChild([] {
    const int fd = Open("a");
    ASSERT_EQ(write(fd, "x", 1), 1);
    ASSERT_EQ(fsync(fd), 0);
    ASSERT_EQ(fdatasync(fd), 0);
    const int dir = open(".", O_RDONLY | O_DIRECTORY);
    ASSERT_EQ(fsync(dir), 0);
    const int synced = open("a", O_WRONLY | O_DSYNC);
    ASSERT_EQ(pwrite(synced, "y", 1, 0), 1);
  });
  EXPECT_EQ(Ops(), (std::vector<std::string>{"create a", "write a 1@0", "fsync a", "fdatasync a",
                                             "fsyncdir ", "write a 1@0", "fdatasync a"}));
  EXPECT_TRUE(engine().pending().empty());
}

TEST_F(FileTest, VectoredWritesAreOneOp) {
  InChild([] {
    const int fd = Open("a");
    char bytes[10] = "012345678";
    const iovec pieces[3] = {{bytes, 3}, {bytes + 3, 1}, {bytes + 4, 5}};
    EXPECT_EQ(pwritev(fd, pieces, 3, 100), 9);
  });
  EXPECT_EQ(Ops(), (std::vector<std::string>{"create a", "write a 9@100"}));
}

}  // namespace
}  // namespace tornfs
