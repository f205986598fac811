#include "harness/stale_mount.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include "common/fd.h"
#include "temp_dir.h"

namespace tornfs::harness {
namespace {

TEST(MountPoint, AnEmptyDirectoryIsFit) {
  const TempDir dir;
  EXPECT_TRUE(CheckMountPoint(dir.path()));
}

TEST(MountPoint, EachObstacleHasItsOwnError) {
  const TempDir dir;
  ASSERT_TRUE(WriteFile(dir / "file", "x"));
  EXPECT_EQ(CheckMountPoint(dir / "missing").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(CheckMountPoint(dir / "file").error().code, ErrorCode::kInvalid);
  EXPECT_EQ(CheckMountPoint(dir / "file/below").error().code, ErrorCode::kInvalid);
  EXPECT_EQ(CheckMountPoint(dir.path()).error().Message(),
            dir.path() + ": the directory is not empty");
  const auto proc = CheckMountPoint("/proc/");
  ASSERT_FALSE(proc);
  EXPECT_EQ(proc.error().code, ErrorCode::kBusy);
  EXPECT_EQ(proc.error().Message(), "/proc/: something is already mounted there");
}

// A FUSE mount whose descriptor is closed again is just what a dead daemon leaves behind.
TEST(StaleMount, IsFoundAndCleaned) {
  const TempDir dir;
  const std::string point = dir / "with blank";
  ASSERT_EQ(::mkdir(point.c_str(), 0755), 0);
  {
    const Fd device(::open("/dev/fuse", O_RDWR | O_CLOEXEC));
    const std::string options = "fd=" + std::to_string(device.get()) +
                                ",rootmode=40000,user_id=" + std::to_string(::getuid()) +
                                ",group_id=" + std::to_string(::getgid());
    if (!device.valid() ||
        ::mount("test", point.c_str(), "fuse", MS_NOSUID | MS_NODEV, options.c_str()) != 0) {
      GTEST_SKIP() << "mounting FUSE by hand needs /dev/fuse and root";
    }
  }
  EXPECT_TRUE(IsStaleMount(point));
  const auto check = CheckMountPoint(point);
  ASSERT_FALSE(check);
  EXPECT_EQ(check.error().Message(), point + ": the mount of a daemon that died is still there");
  EXPECT_TRUE(CleanStaleMount(point));
  EXPECT_FALSE(IsStaleMount(point));
  EXPECT_TRUE(CheckMountPoint(point));
}

TEST(StaleMount, NothingToCleanIsSuccess) {
  const TempDir dir;
  EXPECT_FALSE(IsStaleMount(dir.path()));
  EXPECT_TRUE(CleanStaleMount(dir.path()));
  EXPECT_TRUE(CleanStaleMount(dir / "missing"));
}

TEST(StaleMount, DetachingAPlainDirectoryIsAnError) {
  const TempDir dir;
  EXPECT_FALSE(DetachMount(dir.path()));
}

}  // namespace
}  // namespace tornfs::harness
