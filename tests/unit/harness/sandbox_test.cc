#include "harness/sandbox.h"

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/fd.h"
#include "harness/supervisor.h"
#include "isolated.h"
#include "temp_dir.h"

namespace tornfs::harness {
namespace {

class SandboxTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!IsPossible(Containment::kPrivate)) GTEST_SKIP() << "private namespaces need root";
  }
};

// Standard output and error of a script; the script must end with 0.
std::string OutputOf(Supervisor* supervisor, const std::string& script) {
  const ExitReport report = SpawnAndWait(supervisor, ShellRequest("exec 2>&1; " + script));
  std::string output = supervisor->TakeOutput(Stream::kOutput).value();
  EXPECT_EQ(report.ShellStatus(), 0) << output;
  return output;
}

// Starts a supervisor with a read-only outside in the forked child of the test, mounts a tmpfs on
// `mount_point` as a filesystem of the owner, then runs `body`.
void WithSandbox(const std::string& mount_point, const std::function<void(Supervisor*)>& body) {
  RunIsolated(Containment::kPrivate, [&] {
    SandboxOptions options = Enter(Containment::kPrivate);
    options.read_only_outside = true;
    options.mount_point = mount_point;
    auto supervisor = Supervisor::Start(options);
    ASSERT_TRUE(supervisor) << supervisor.error().Message();
    ASSERT_EQ(::mount("tmpfs", mount_point.c_str(), "tmpfs", 0, nullptr), 0);
    body(&*supervisor);
  });
}

TEST_F(SandboxTest, ProcessesAndNetworkArePrivate) {
  RunIsolated(Containment::kPrivate, [] {
    auto supervisor = Supervisor::Start(Enter(Containment::kPrivate));
    ASSERT_TRUE(supervisor);
    EXPECT_EQ(OutputOf(&*supervisor, "cat /proc/1/comm"), "tornfs-helper\n");
    EXPECT_EQ(OutputOf(&*supervisor, "test -e /proc/self/exe && echo yes"), "yes\n");
    EXPECT_EQ(OutputOf(&*supervisor, "grep -c : /proc/net/dev"), "1\n");
    EXPECT_EQ(OutputOf(&*supervisor, "grep -q '127[.]0[.]0[.]1' /proc/net/fib_trie && echo up"),
              "up\n");
    // The owner's own children are where the owner is.
    const pid_t child = ::fork();
    if (child == 0) ::_exit(::getpid() == 1 ? 1 : 0);
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  });
}

TEST_F(SandboxTest, TheMachineDoesNotSeeTheMounts) {
  const TempDir dir;
  WithSandbox(dir.path(), [&](Supervisor* supervisor) {
    OutputOf(supervisor, "echo x > " + (dir / "inside"));
  });
  EXPECT_FALSE(std::filesystem::exists(dir / "inside"));
}

// In /tmp the mount point lies below the private overlay, elsewhere it does not.
TEST_F(SandboxTest, TheOwnersMountIsSeenAndWritable) {
  for (const char* parent : {"/tmp", "/var/tmp"}) {
    const TempDir dir(parent);
    WithSandbox(dir.path(), [&](Supervisor* supervisor) {
      ASSERT_TRUE(WriteFile(dir / "ours", "1"));
      EXPECT_EQ(OutputOf(supervisor, "cat " + (dir / "ours") + "; echo 2 > " + (dir / "theirs")),
                "1");
      EXPECT_EQ(ReadFile(dir / "theirs").value(), "2\n");
      ASSERT_EQ(::umount2(dir.path().c_str(), MNT_DETACH), 0);
      EXPECT_EQ(OutputOf(supervisor, "ls " + dir.path()), "");
    });
  }
}

TEST_F(SandboxTest, TheOutsideIsReadOnly) {
  const TempDir dir("/var/tmp");
  const TempDir mount_point;
  WithSandbox(mount_point.path(), [&](Supervisor* supervisor) {
    const std::string refused = OutputOf(supervisor, "echo x > " + (dir / "new") + " || true");
    EXPECT_NE(refused.find("Read-only file system"), std::string::npos) << refused;
    EXPECT_EQ(OutputOf(supervisor, "echo x > /dev/null && echo null"), "null\n");
    EXPECT_EQ(OutputOf(supervisor, "echo self > /proc/self/comm && echo proc"), "proc\n");
    // The owner itself is not bound.
    EXPECT_TRUE(WriteFile(dir / "new", "x"));
  });
}

TEST_F(SandboxTest, TemporaryFoldersArePrivate) {
  const TempDir dir;
  const TempDir mount_point;
  ASSERT_TRUE(WriteFile(dir / "old", "old\n"));
  ASSERT_TRUE(WriteFile(dir / "command", "#!/bin/sh\necho ran\n"));
  ASSERT_EQ(::chmod((dir / "command").c_str(), 0755), 0);
  WithSandbox(mount_point.path(), [&](Supervisor* supervisor) {
    EXPECT_EQ(OutputOf(supervisor, "cat " + (dir / "old")), "old\n");
    EXPECT_EQ(OutputOf(supervisor, dir / "command"), "ran\n");
    EXPECT_EQ(OutputOf(supervisor, "echo new > " + (dir / "old") + "; cat " + (dir / "old")),
              "new\n");
    EXPECT_EQ(OutputOf(supervisor, "echo s > /dev/shm/tornfs-test; ls /dev/shm"), "tornfs-test\n");
  });
  EXPECT_EQ(ReadFile(dir / "old").value(), "old\n");
  EXPECT_FALSE(std::filesystem::exists("/dev/shm/tornfs-test"));
}

TEST_F(SandboxTest, EveryProgramFindsTheSameTemporaryFolders) {
  const TempDir dir;
  ASSERT_TRUE(WriteFile(dir / "old", "old\n"));
  const std::string look = "cat " + (dir / "old") + "; ls /dev/shm " + dir.path();
  for (const char* parent : {"/tmp", "/var/tmp"}) {
    const TempDir mount_point(parent);
    WithSandbox(mount_point.path(), [&](Supervisor* supervisor) {
      ASSERT_TRUE(WriteFile(mount_point / "ours", "x"));
      const std::string before = OutputOf(supervisor, look);
      for (const std::string& change :
           {"echo x > " + (dir / "new"), "rm " + (dir / "old"), "echo x > " + (dir / "old"),
            std::string("mkdir /dev/shm/x")}) {
        const ExitReport report = SpawnAndWait(supervisor, ShellRequest(change));
        EXPECT_TRUE(report.left_outside) << change;
        EXPECT_EQ(OutputOf(supervisor, look), before) << change;
        EXPECT_EQ(OutputOf(supervisor, "ls " + mount_point.path()), "ours\n");
      }
      EXPECT_FALSE(SpawnAndWait(supervisor, ShellRequest("true")).left_outside);
    });
  }
  EXPECT_EQ(ReadFile(dir / "old").value(), "old\n");
}

TEST_F(SandboxTest, EveryProgramHasTheSameProcessIds) {
  const TempDir world;
  WithSandbox(world.path(), [](Supervisor* supervisor) {
    if (OutputOf(supervisor, "test -w /proc/sys/kernel/ns_last_pid && echo yes || echo no") ==
        "no\n") {
      GTEST_SKIP() << "the kernel does not let ids be chosen";
    }
    const std::string script = "echo $$; sh -c 'echo $$'; sleep 1000 & echo $!";
    const std::string ids = OutputOf(supervisor, script);
    EXPECT_EQ(ids.substr(0, 4), "101\n");
    for (int i = 0; i < 5; ++i) EXPECT_EQ(OutputOf(supervisor, script), ids);
  });
}

TEST_F(SandboxTest, WithoutTheRightToMountTheWorldStays) {
  const TempDir dir;
  RunIsolated(Containment::kPrivate, [&] {
    SandboxOptions options = Enter(Containment::kPrivate);
    options.no_mounting = true;
    auto supervisor = Supervisor::Start(options);
    ASSERT_TRUE(supervisor) << supervisor.error().Message();
    ASSERT_EQ(::mount("tmpfs", dir.path().c_str(), "tmpfs", 0, nullptr), 0);
    ASSERT_TRUE(WriteFile(dir / "ours", "x"));
    for (const char* how : {"umount ", "umount -l ", "mount -t tmpfs none "}) {
      const ExitReport report = SpawnAndWait(&*supervisor, ShellRequest(how + dir.path()));
      EXPECT_NE(report.ShellStatus(), 0) << how;
      EXPECT_EQ(OutputOf(&*supervisor, "ls " + dir.path()), "ours\n");
    }
  });
}

}  // namespace
}  // namespace tornfs::harness
