// Stragglers, kills and the owner's death. A program here has one end of a socket pair as its
// input, through which it says that it is ready; and because all its children inherit it, the end
// of file on our side proves that every process is gone.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <set>
#include <string>

#include "common/fd.h"
#include "harness/mount_table.h"
#include "harness/supervisor.h"
#include "isolated.h"
#include "temp_dir.h"

namespace tornfs::harness {
namespace {

using SupervisorKillTest = ContainmentTest;
INSTANTIATE_CONTAINMENTS(SupervisorKillTest);

// A program that leaves nothing out: a child in its own session, one whose parent is gone, a plain
// one; five processes besides the shell, all asleep.
constexpr const char* kTree =
    "exec 2>&0\n"
    "setsid sh -c 'sleep 1000 & echo >&2; exec sleep 1000' &\n"
    "(setsid sh -c 'sleep 1000 & echo >&2; exec sleep 1000' &)\n"
    "sleep 1000 &\n";
constexpr int kTreeLines = 2;
constexpr std::uint32_t kTreeProcesses = 5;

struct Line {
  Fd ours;
  Fd theirs;
};

Line MakeLine() {
  int ends[2];
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  return {Fd(ends[0]), Fd(ends[1])};
}

SpawnRequest Request(const std::string& script, const Line& line) {
  SpawnRequest request = ShellRequest(script);
  request.input = {InputSource::Kind::kFd, line.theirs.get()};
  return request;
}

// Reads `count` bytes.
void Await(const Line& line, int count) {
  for (int i = 0; i < count; ++i) {
    char byte = 0;
    ASSERT_EQ(::read(line.ours.get(), &byte, 1), 1);
  }
}

void ExpectEveryoneGone(Line* line) {
  line->theirs.Reset();
  EXPECT_EQ(ReadAll(line->ours.get()).value(), "");
}

Supervisor StartOrDie(const SandboxOptions& options) {
  auto supervisor = Supervisor::Start(options);
  EXPECT_TRUE(supervisor) << supervisor.error().Message();
  return std::move(*supervisor);
}

// Waits for the lines of kTree before the program ends, so that the tree is complete.
std::string TreeThen(const std::string& rest) { return std::string(kTree) + "read a; " + rest; }

TEST_P(SupervisorKillTest, StragglersAreKilledAndCounted) {
  Isolated([](const SandboxOptions& options) {
    Supervisor supervisor = StartOrDie(options);
    Line line = MakeLine();
    ASSERT_TRUE(supervisor.Spawn(Request(TreeThen("exit 5"), line)));
    Await(line, kTreeLines);
    ASSERT_TRUE(WriteAll(line.ours.get(), "go\n"));
    const ExitReport report = supervisor.Wait().value();
    EXPECT_EQ(report.ShellStatus(), 5);
    EXPECT_EQ(report.stragglers, kTreeProcesses);
    EXPECT_FALSE(report.killed);
    ExpectEveryoneGone(&line);
    const ExitReport next = SpawnAndWait(&supervisor, ShellRequest("exit 6"));
    EXPECT_EQ(next.ShellStatus(), 6);
    EXPECT_EQ(next.stragglers, 0U);
  });
}

TEST_P(SupervisorKillTest, ChildrenThatEndInTimeDoNotCount) {
  Isolated([](const SandboxOptions& options) {
    Supervisor supervisor = StartOrDie(options);
    const ExitReport report =
        SpawnAndWait(&supervisor, ShellRequest("(true & ) ; true & wait; exit 0"));
    EXPECT_EQ(report.ShellStatus(), 0);
    // The orphan may still be alive at the end, but not more than it.
    EXPECT_LE(report.stragglers, 1U);
    EXPECT_EQ(SpawnAndWait(&supervisor, ShellRequest("true & true & wait")).stragglers, 0U);
  });
}

TEST_P(SupervisorKillTest, KillEndsTheWholeTree) {
  Isolated([](const SandboxOptions& options) {
    Supervisor supervisor = StartOrDie(options);
    for (int round = 0; round < 5; ++round) {
      Line line = MakeLine();
      ASSERT_TRUE(supervisor.Spawn(Request(TreeThen(""), line)));
      Await(line, kTreeLines);
      EXPECT_FALSE(supervisor.Poll().value());
      ASSERT_TRUE(supervisor.Kill());
      const ExitReport report = supervisor.Wait().value();
      EXPECT_TRUE(report.killed);
      EXPECT_EQ(report.ShellStatus(), 128 + SIGKILL);
      EXPECT_EQ(report.stragglers, 0U);
      ExpectEveryoneGone(&line);
    }
  });
}

// However early the kill comes, it is not lost.
TEST_P(SupervisorKillTest, KillRightAfterSpawnIsNotLost) {
  Isolated([](const SandboxOptions& options) {
    Supervisor supervisor = StartOrDie(options);
    SpawnRequest request = ShellRequest("");
    request.arguments = {"sleep", "1000"};
    for (int round = 0; round < 100; ++round) {
      ASSERT_TRUE(supervisor.Spawn(request));
      ASSERT_TRUE(supervisor.Kill());
      const ExitReport report = supervisor.Wait().value();
      ASSERT_TRUE(report.killed);
      ASSERT_EQ(report.ShellStatus(), 128 + SIGKILL);
    }
    EXPECT_EQ(SpawnAndWait(&supervisor, ShellRequest("exit 7")).ShellStatus(), 7);
  });
}

// The start of the program waits in open(2), as it can for a mount: first it opens a pipe that has
// a reader, which we see, then one that has none.
TEST_P(SupervisorKillTest, KillReachesAStartThatWaits) {
  Isolated([](const SandboxOptions& options) {
    const TempDir dir;
    ASSERT_EQ(::mkfifo((dir / "open").c_str(), 0666), 0);
    ASSERT_EQ(::mkfifo((dir / "waits").c_str(), 0666), 0);
    Supervisor supervisor = StartOrDie(options);
    const Fd reader = OpenFile(dir / "open", O_RDONLY | O_NONBLOCK).value();
    const Fd watch(::inotify_init1(IN_CLOEXEC));
    ASSERT_GE(::inotify_add_watch(watch.get(), (dir / "open").c_str(), IN_OPEN), 0);
    SpawnRequest request = ShellRequest("true");
    request.output = {OutputTarget::Kind::kPath, dir / "open"};
    request.error = {OutputTarget::Kind::kPath, dir / "waits"};
    ASSERT_TRUE(supervisor.Spawn(request));
    alignas(inotify_event) std::array<char, 4096> event;
    ASSERT_GT(::read(watch.get(), event.data(), event.size()), 0);
    ASSERT_TRUE(supervisor.Kill());
    const ExitReport report = supervisor.Wait().value();
    EXPECT_TRUE(report.killed);
    EXPECT_EQ(report.ShellStatus(), 128 + SIGKILL);
  });
}

TEST_P(SupervisorKillTest, KillWithoutAProgramDoesNothing) {
  Isolated([](const SandboxOptions& options) {
    Supervisor supervisor = StartOrDie(options);
    EXPECT_TRUE(supervisor.Kill());
    const ExitReport report = SpawnAndWait(&supervisor, ShellRequest("exit 8"));
    EXPECT_EQ(report.ShellStatus(), 8);
    EXPECT_FALSE(report.killed);
    EXPECT_TRUE(supervisor.Kill());
    EXPECT_EQ(SpawnAndWait(&supervisor, ShellRequest("exit 9")).ShellStatus(), 9);
  });
}

TEST_P(SupervisorKillTest, DestructionKillsWhatRuns) {
  Isolated([](const SandboxOptions& options) {
    Line line = MakeLine();
    {
      Supervisor supervisor = StartOrDie(options);
      ASSERT_TRUE(supervisor.Spawn(Request(TreeThen(""), line)));
      Await(line, kTreeLines);
    }
    ExpectEveryoneGone(&line);
  });
}

// The cgroup folders of an owner, in every cgroup v2 that is mounted here.
std::size_t CountCgroups(pid_t owner) {
  const std::string prefix = "tornfs-" + std::to_string(owner) + "-";
  std::set<ino_t> found;  // The tree can be mounted in several places.
  const auto table = ReadMountTable();
  for (const MountEntry& mount : *table) {
    if (mount.type != "cgroup2") continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(
             mount.point, std::filesystem::directory_options::skip_permission_denied)) {
      struct stat info {};
      const std::string path = entry.path().string();
      if (entry.path().filename().string().starts_with(prefix) &&
          ::stat(path.c_str(), &info) == 0) {
        found.insert(info.st_ino);
      }
    }
  }
  return found.size();
}

TEST_P(SupervisorKillTest, StopRemovesTheCgroup) {
  Isolated([](const SandboxOptions& options) {
    Supervisor supervisor = StartOrDie(options);
    SpawnAndWait(&supervisor, ShellRequest("true"));
    EXPECT_EQ(CountCgroups(::getpid()), options.cgroup ? 1U : 0U);
    supervisor.Stop();
    EXPECT_EQ(CountCgroups(::getpid()), 0U);
    supervisor.Stop();
  });
}

// The owner: starts the tree, tells who its helper is and waits for its end.
[[noreturn]] void BeOwner(const SandboxOptions& options, const Line& line, int told) {
  Supervisor supervisor = StartOrDie(options);
  (void)supervisor.Spawn(Request(TreeThen(""), line));
  const pid_t helper = supervisor.helper_pid();
  (void)!::write(told, &helper, sizeof helper);
  for (;;) ::pause();
}

TEST_P(SupervisorKillTest, NothingSurvivesTheOwner) {
  Isolated([](SandboxOptions options) {
    const TempDir dir;
    options.cleanup = {"/bin/sh", "-c", "echo cleaned > " + (dir / "mark")};
    // The helper comes to us when its parent dies, so that its end can be awaited.
    ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    Line line = MakeLine();
    const Line told = MakeLine();
    const pid_t owner = ::fork();
    if (owner == 0) BeOwner(options, line, told.theirs.get());
    pid_t helper = -1;
    ASSERT_EQ(::read(told.ours.get(), &helper, sizeof helper), ssize_t{sizeof helper});
    Await(line, kTreeLines);
    ASSERT_EQ(::kill(owner, SIGKILL), 0);
    ExpectEveryoneGone(&line);
    ASSERT_EQ(::waitpid(owner, nullptr, 0), owner);
    int status = -1;
    ASSERT_EQ(::waitpid(helper, &status, 0), helper);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(ReadFile(dir / "mark").value(), "cleaned\n");
    EXPECT_EQ(CountCgroups(owner), 0U);
    EXPECT_EQ(::waitpid(-1, nullptr, 0), -1);
  });
}

TEST_P(SupervisorKillTest, TheCleanupIsNotRunAfterStop) {
  Isolated([](SandboxOptions options) {
    const TempDir dir;
    options.cleanup = {"/bin/sh", "-c", "echo cleaned > " + (dir / "mark")};
    StartOrDie(options).Stop();
    EXPECT_FALSE(std::filesystem::exists(dir / "mark"));
  });
}

}  // namespace
}  // namespace tornfs::harness
