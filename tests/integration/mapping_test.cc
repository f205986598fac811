// Stores through shared mappings.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "mount_fixture.h"

namespace tornfs {
namespace {

using Strings = std::vector<std::string>;

char* Map(const char* name, std::size_t length) {
  const int fd = open(name, O_RDWR);
  EXPECT_GE(fd, 0);
  void* at = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  EXPECT_NE(at, MAP_FAILED);
  close(fd);
  return static_cast<char*>(at);
}

class MappingTest : public MountTest {
 protected:
  std::string Content(const char* name) {
    const Ino ino = engine().Lookup(kRootIno, name).value();
    std::vector<iovec> pieces;
    (void)engine().Read(ino, 0, 1 << 20, pieces);
    std::string text;
    for (const iovec& piece : pieces) {
      text.append(static_cast<const char*>(piece.iov_base), piece.iov_len);
    }
    return text;
  }
};

TEST_F(MappingTest, MsyncWritesBackAndIsABarrier) {
  InChild([] { Spew("a", std::string(8192, '.')); });
  Record();
  InChild([] {
    char* map = Map("a", 8192);
    map[5000] = 'X';
    EXPECT_EQ(msync(map, 8192, MS_SYNC), 0);
  });
  EXPECT_EQ(Ops(), (Strings{"writeback a 4096@4096", "fdatasync a"}));
  EXPECT_EQ(Content("a")[5000], 'X');
}

TEST_F(MappingTest, PullingBringsStoresWithoutTheProgramsHelp) {
  InChild([] { Spew("a", std::string(64 << 12, '.')); });
  Record();
  const auto child = Start([](const Child::Pause& pause) {
    char* map = Map("a", 64 << 12);
    for (int page = 0; page < 64; page += 2) map[page << 12] = 'X';
    pause();
  });
  child->UntilPause();
  EXPECT_TRUE(Ops().empty());
  EXPECT_TRUE(server().PullPages());
  EXPECT_EQ(Ops().size(), 32U);
  EXPECT_EQ(Content("a")[62 << 12], 'X');
  child->GoOn();
  child->Join();
}

TEST_F(MappingTest, AKilledProcessesStoresArrive) {
  InChild([] { Spew("a", std::string(4096, '.')); });
  Record();
  const auto child = Start([](const Child::Pause& pause) {
    Map("a", 4096)[7] = 'X';
    pause();
  });
  child->UntilPause();
  child->Kill();
  EXPECT_TRUE(server().PullPages());
  EXPECT_EQ(Content("a")[7], 'X');
}

TEST_F(MappingTest, WriteBackNeverGrowsAFile) {
  InChild([] {
    Spew("a", "123");
    char* map = Map("a", 4096);
    map[0] = 'X';
    map[100] = 'Y';
    EXPECT_EQ(msync(map, 4096, MS_SYNC), 0);
  });
  EXPECT_EQ(Content("a"), "X23");
}

// A copy made by holes must not miss what was stored into one.
TEST_F(MappingTest, StoresIntoHolesAreData) {
  InChild([] {
    const int fd = open("a", O_CREAT | O_RDWR, 0644);
    ASSERT_EQ(ftruncate(fd, 1 << 20), 0);
    char* map = Map("a", 1 << 20);
    map[500000] = 'X';
    close(fd);
    const int other = open("a", O_RDONLY);
    EXPECT_EQ(lseek(other, 0, SEEK_DATA), 500000 / 4096 * 4096);
    EXPECT_EQ(lseek(other, 500000, SEEK_HOLE), 500000 / 4096 * 4096 + 4096);
    close(other);
  });
}

// The thread that has the pages written is not the one that this waits for.
TEST_F(MappingTest, StoresIntoHolesAreDataToTheHelperToo) {
  InChild([] { Spew("a", std::string(4096, '.')); });
  const auto child = Start([](const Child::Pause& pause) {
    ASSERT_EQ(truncate("a", 1 << 20), 0);
    char* map = Map("a", 1 << 20);
    map[500000] = 'X';
    pause();
  });
  child->UntilPause();
  off_t found = -1;
  server().RunElsewhere([&] {
    const Fd file(open((mount_point() + "/a").c_str(), O_RDONLY));
    found = lseek(file.get(), 4096, SEEK_DATA);
  });
  EXPECT_EQ(found, 500000 / 4096 * 4096);
  child->GoOn();
  child->Join();
}

}  // namespace
}  // namespace tornfs
