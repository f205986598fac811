// The parts into which the kernel cuts one write(2) are one op again.
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <string>

#include "mount_fixture.h"

namespace tornfs {
namespace {

using Strings = std::vector<std::string>;

class WritePartsTest : public MountTest {
 protected:
  // Ops of `body` on a file of 16 KiB whose pages are not cached.
  Strings OpsOf(const std::function<void(int fd)>& body) {
    InChild([] { Spew("a", std::string(16384, 'o')); });
    Record();
    InChild([&] {
      const int fd = open("a", O_RDWR);
      ASSERT_GE(fd, 0);
      body(fd);
    });
    return Ops();
  }
  static void Write(int fd, std::size_t count, off_t offset) {
    const std::string bytes(count, 'n');
    EXPECT_EQ(pwrite(fd, bytes.data(), count, offset), static_cast<ssize_t>(count));
  }
};

TEST_F(WritePartsTest, AnUnalignedWriteOverAnUncachedPageIsOneOp) {
  EXPECT_EQ(OpsOf([](int fd) { Write(fd, 5000, 4090); }), Strings{"write a 5000@4090"});
  EXPECT_EQ(server().counters().joined_parts, 1U);
}

TEST_F(WritePartsTest, TwoWritesAreTwoOps) {
  EXPECT_EQ(OpsOf([](int fd) {
              Write(fd, 4096, 0);
              Write(fd, 4096, 4096);
            }),
            (Strings{"write a 4096@0", "write a 4096@4096"}));
}

TEST_F(WritePartsTest, TwoWritesThatMeetAtAPageAreTwoOps) {
  EXPECT_EQ(OpsOf([](int fd) {
              Write(fd, 6, 4090);
              Write(fd, 5000, 4096);
            }),
            (Strings{"write a 6@4090", "write a 5000@4096"}));
}

TEST_F(WritePartsTest, ALargeWriteIsOneOpWhateverItsAlignment) {
  EXPECT_EQ(OpsOf([](int fd) { Write(fd, (3 << 20) + 5, 7); }), Strings{"write a 3145733@7"});
  EXPECT_EQ(server().counters().joined_parts, 3U);
}

TEST_F(WritePartsTest, LargeWritesInARowStayApart) {
  EXPECT_EQ(OpsOf([](int fd) {
              Write(fd, 1 << 20, 0);
              Write(fd, 2 << 20, 1 << 20);
            }),
            (Strings{"write a 1048576@0", "write a 2097152@1048576"}));
}

TEST_F(WritePartsTest, VectoredWritesJoinToo) {
  EXPECT_EQ(OpsOf([](int fd) {
              std::string bytes(3000, 'n');
              const iovec pieces[2] = {{bytes.data(), 2500}, {bytes.data(), 2500}};
              EXPECT_EQ(pwritev(fd, pieces, 2, 4090), 5000);
            }),
            Strings{"write a 5000@4090"});
}

TEST_F(WritePartsTest, AppendsJoinToo) {
  InChild([] { Spew("a", std::string(4090, 'o')); });
  Record();
  InChild([] {
    const int fd = open("a", O_WRONLY | O_APPEND);
    const std::string bytes(5000, 'n');
    EXPECT_EQ(write(fd, bytes.data(), bytes.size()), 5000);
  });
  EXPECT_EQ(Ops(), Strings{"write a 5000@4090"});
}

}  // namespace
}  // namespace tornfs
