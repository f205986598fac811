// The end of an epoch: what processes that live on can still see and do.
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "mount_fixture.h"

namespace tornfs {
namespace {

class EpochTest : public MountTest {};

TEST_F(EpochTest, APowerLossTakesWhatWasNotSynced) {
  const auto child = Start([](const Child::Pause& pause) {
    Spew("kept", "x");
    const int fd = open("kept", O_RDONLY);
    ASSERT_EQ(fsync(fd), 0);
    const int dir = open(".", O_RDONLY | O_DIRECTORY);
    ASSERT_EQ(fsync(dir), 0);
    Spew("lost", "y");
    ASSERT_EQ(access("missing", F_OK), -1);
    pause();
    EXPECT_EQ(access("lost", F_OK), -1);
    EXPECT_EQ(Slurp("kept"), "x");
    Spew("missing", "z");
    EXPECT_EQ(Slurp("missing"), "z");
  });
  child->UntilPause();
  PowerLoss(false);
  child->GoOn();
  child->Join();
}

TEST_F(EpochTest, OldHandlesGetEio) {
  const auto child = Start([](const Child::Pause& pause) {
    Spew("a", std::string(4096, 'x'));
    ASSERT_EQ(mkdir("d", 0755), 0);
    const int fd = open("a", O_RDWR);
    const int path = open("a", O_PATH);
    const int dir = open("d", O_RDONLY | O_DIRECTORY);
    std::string bytes(4096, ' ');
    ASSERT_EQ(pread(fd, bytes.data(), 4096, 0), 4096);  // Cached from here on.
    struct stat found {};
    ASSERT_EQ(fstat(path, &found), 0);
    pause();
    const auto expect_eio = [](long result) {
      EXPECT_EQ(result, -1);
      EXPECT_EQ(errno, EIO);
    };
    expect_eio(pread(fd, bytes.data(), 4096, 0));
    expect_eio(pwrite(fd, "y", 1, 0));
    expect_eio(fstat(fd, &found));
    expect_eio(fstat(path, &found));
    expect_eio(ftruncate(fd, 0));
    expect_eio(fsync(fd));
    expect_eio(fsync(dir));
    expect_eio(openat(dir, "b", O_CREAT | O_WRONLY, 0644));
    expect_eio(linkat(AT_FDCWD, ("/proc/self/fd/" + std::to_string(path)).c_str(), AT_FDCWD, "b",
                      AT_SYMLINK_FOLLOW));
    EXPECT_EQ(close(fd), 0);
    EXPECT_EQ(Slurp("a"), std::string(4096, 'x'));
  });
  child->UntilPause();
  PowerLoss(true);
  const OpNumber next = engine().next_op();
  child->GoOn();
  child->Join();
  EXPECT_EQ(engine().next_op(), next);
}

TEST_F(EpochTest, DirtyPagesOfOldMappingsDoNotReachTheNewEpoch) {
  const auto child = Start([](const Child::Pause& pause) {
    Spew("a", std::string(8192, '.'));
    const int fd = open("a", O_RDWR);
    auto* map = static_cast<char*>(mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
    map[0] = 'X';
    pause();
    // The mapping is gone with its pages; a touch is SIGBUS.
    static sigjmp_buf back;
    signal(SIGBUS, [](int) { siglongjmp(back, 1); });
    if (sigsetjmp(back, 1) == 0) {
      map[4096] = 'Y';
      ADD_FAILURE() << "the old mapping still answers";
    }
    munmap(map, 8192);
    EXPECT_EQ(Slurp("a"), std::string(8192, '.'));
  });
  child->UntilPause();
  PowerLoss(true);
  const OpNumber next = engine().next_op();
  EXPECT_TRUE(server().PullPages());
  child->GoOn();
  child->Join();
  EXPECT_EQ(engine().next_op(), next);
  EXPECT_GT(server().counters().dead_requests, 0U);
}

TEST_F(EpochTest, AWorkingDirectoryBelowTheRootDies) {
  const auto child = Start([](const Child::Pause& pause) {
    ASSERT_EQ(mkdir("d", 0755), 0);
    ASSERT_EQ(chdir("d"), 0);
    Spew("a", "x");
    struct stat found {};
    ASSERT_EQ(stat("a", &found), 0);
    ASSERT_EQ(stat(".", &found), 0);
    pause();
    EXPECT_EQ(stat("a", &found), -1);
    EXPECT_EQ(errno, EIO);
    EXPECT_EQ(stat(".", &found), -1);
    EXPECT_EQ(errno, EIO);
    EXPECT_EQ(open("b", O_CREAT | O_WRONLY, 0644), -1);
  });
  child->UntilPause();
  PowerLoss(true);
  child->GoOn();
  child->Join();
}

TEST_F(EpochTest, AHandleOnTheRootGoesOn) {
  const auto child = Start([](const Child::Pause& pause) {
    const int root = open(".", O_RDONLY | O_DIRECTORY);
    Spew("lost", "x");
    struct stat before {};
    ASSERT_EQ(stat(".", &before), 0);
    pause();
    EXPECT_EQ(faccessat(root, "lost", F_OK, 0), -1);
    EXPECT_EQ(errno, ENOENT);
    const int fd = openat(root, "new", O_CREAT | O_WRONLY, 0644);
    EXPECT_GE(fd, 0);
    EXPECT_EQ(fsync(root), 0);
    struct stat after {};
    ASSERT_EQ(fstat(root, &after), 0);
    EXPECT_EQ(after.st_ino, before.st_ino);
  });
  child->UntilPause();
  PowerLoss(false);
  child->GoOn();
  child->Join();
}

TEST_F(EpochTest, ManyEpochsLeaveNothingBehind) {
  for (int i = 0; i < 200; ++i) {
    InChild([i] {
      EXPECT_EQ(access("a", F_OK), -1) << i;
      Spew("a", std::to_string(i));
      EXPECT_EQ(Slurp("a"), std::to_string(i));
    });
    PowerLoss(false);
  }
  EXPECT_EQ(engine().current().inodes(), 1U);
}

TEST_F(EpochTest, QuiescedMountsRefuseChangesAndAllowReading) {
  const auto child = Start([](const Child::Pause& pause) {
    Spew("a", "x");
    const int fd = open("a", O_RDWR);
    pause();
    EXPECT_EQ(write(fd, "y", 1), -1);
    EXPECT_EQ(errno, EIO);
    EXPECT_EQ(fsync(fd), -1);
    EXPECT_EQ(mkdir("d", 0755), -1);
    EXPECT_EQ(errno, EIO);
    EXPECT_EQ(unlink("a"), -1);
    EXPECT_EQ(Slurp("a"), "x");
  });
  child->UntilPause();
  const OpNumber next = engine().next_op();
  server().Quiesce(true);
  child->GoOn();
  child->Join();
  EXPECT_EQ(engine().next_op(), next);
  server().Quiesce(false);
  InChild([] { Spew("a", "z"); });
}

class OldKernelEpochTest : public MountTest {
 protected:
  static MountOptions Old() {
    MountOptions options;
    options.use_kernel_epochs = false;
    return options;
  }
  OldKernelEpochTest() : MountTest(Old()) {}
};

TEST_F(OldKernelEpochTest, NamesOfTheRootAreDroppedOneByOne) {
  const auto child = Start([](const Child::Pause& pause) {
    Spew("lost", "x");
    ASSERT_EQ(mkdir("d", 0755), 0);
    Spew("d/lost", "x");
    EXPECT_EQ(access("missing", F_OK), -1);
    pause();
    for (const char* name : {"lost", "missing", "d", "d/lost"}) {
      EXPECT_EQ(access(name, F_OK), -1) << name;
      EXPECT_EQ(errno, ENOENT) << name;
    }
    Spew("missing", "y");
    pause();
    EXPECT_EQ(Slurp("missing"), "y");
  });
  child->UntilPause();
  PowerLoss(false);
  child->GoOn();
  child->UntilPause();
  PowerLoss(true);
  child->GoOn();
  child->Join();
}

}  // namespace
}  // namespace tornfs
