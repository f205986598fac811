#include "harness/supervisor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "common/fd.h"
#include "isolated.h"
#include "temp_dir.h"

namespace tornfs::harness {
namespace {

using SupervisorTest = ContainmentTest;
INSTANTIATE_CONTAINMENTS(SupervisorTest);

Supervisor StartOrDie(const SandboxOptions& options) {
  auto supervisor = Supervisor::Start(options);
  EXPECT_TRUE(supervisor) << supervisor.error().Message();
  return std::move(*supervisor);
}

std::string OutputOf(Supervisor* supervisor, const SpawnRequest& request) {
  EXPECT_EQ(SpawnAndWait(supervisor, request).ShellStatus(), 0);
  return supervisor->TakeOutput(Stream::kOutput).value();
}

TEST_P(SupervisorTest, ReportsExitStatusAndSignal) {
  Isolated([](const SandboxOptions& options) {
    Supervisor supervisor = StartOrDie(options);
    EXPECT_EQ(supervisor.uses_cgroup(), options.cgroup);
    const ExitReport exited = SpawnAndWait(&supervisor, ShellRequest("exit 3"));
    EXPECT_EQ(exited.ShellStatus(), 3);
    EXPECT_EQ(exited.stage, SpawnStage::kStarted);
    EXPECT_EQ(exited.stragglers, 0U);
    EXPECT_FALSE(exited.killed);
    EXPECT_GT(exited.runtime.count(), 0);
    const ExitReport signalled = SpawnAndWait(&supervisor, ShellRequest("kill -USR1 $$"));
    EXPECT_TRUE(WIFSIGNALED(signalled.wait_status));
    EXPECT_EQ(signalled.ShellStatus(), 128 + SIGUSR1);
  });
}

TEST_P(SupervisorTest, ReportsWhereAStartFailed) {
  Isolated([](const SandboxOptions& options) {
    const TempDir dir;
    ASSERT_TRUE(WriteFile(dir / "data", "x"));
    Supervisor supervisor = StartOrDie(options);
    const auto expect = [&](const SpawnRequest& request, SpawnStage stage, int code, int shell) {
      const ExitReport report = SpawnAndWait(&supervisor, request);
      EXPECT_EQ(report.stage, stage) << SpawnStageName(report.stage);
      EXPECT_EQ(report.stage_errno, code);
      EXPECT_EQ(report.ShellStatus(), shell);
    };
    SpawnRequest request = ShellRequest("");
    request.arguments = {dir / "missing"};
    expect(request, SpawnStage::kExecute, ENOENT, 127);
    request.arguments = {"no-such-program-anywhere"};
    expect(request, SpawnStage::kExecute, ENOENT, 127);
    request.arguments = {dir / "data"};
    expect(request, SpawnStage::kExecute, EACCES, 126);
    request.arguments = {dir.path()};
    expect(request, SpawnStage::kExecute, EACCES, 126);
    request = ShellRequest("true");
    request.directory = dir / "missing";
    expect(request, SpawnStage::kDirectory, ENOENT, 125);
    request = ShellRequest("true");
    request.output = {OutputTarget::Kind::kPath, dir / "missing"};
    expect(request, SpawnStage::kOutput, ENOENT, 125);
    request = ShellRequest("true");
    request.error = {OutputTarget::Kind::kPath, dir / "missing"};
    expect(request, SpawnStage::kError, ENOENT, 125);
    EXPECT_EQ(SpawnAndWait(&supervisor, ShellRequest("exit 4")).ShellStatus(), 4);
  });
}

TEST_P(SupervisorTest, CapturesBothStreamsPerSpawn) {
  Isolated([](const SandboxOptions& options) {
    Supervisor supervisor = StartOrDie(options);
    SpawnAndWait(&supervisor, ShellRequest("echo lost"));
    SpawnAndWait(&supervisor, ShellRequest("echo out; echo err >&2; echo more"));
    EXPECT_EQ(supervisor.TakeOutput(Stream::kError).value(), "err\n");
    EXPECT_EQ(supervisor.TakeOutput(Stream::kOutput, 5).value(), "out\nm");
    EXPECT_EQ(supervisor.TakeOutput(Stream::kOutput).value(), "");
  });
}

TEST_P(SupervisorTest, CapturesAMebibyte) {
  Isolated([](const SandboxOptions& options) {
    Supervisor supervisor = StartOrDie(options);
    SpawnRequest request = ShellRequest("");
    request.arguments = {"head", "-c", "1048576", "/dev/zero"};
    EXPECT_EQ(OutputOf(&supervisor, request), std::string(1048576, '\0'));
  });
}

TEST_P(SupervisorTest, AppendsToAnOutputFile) {
  Isolated([](const SandboxOptions& options) {
    const TempDir dir;
    ASSERT_TRUE(WriteFile(dir / "log", "before\n"));
    Supervisor supervisor = StartOrDie(options);
    SpawnRequest request = ShellRequest("echo out; echo err >&2");
    request.output = {OutputTarget::Kind::kPath, dir / "log"};
    request.error = request.output;
    EXPECT_EQ(SpawnAndWait(&supervisor, request).ShellStatus(), 0);
    EXPECT_EQ(ReadFile(dir / "log").value(), "before\nout\nerr\n");
  });
}

TEST_P(SupervisorTest, InputIsEmptyOrADescriptor) {
  Isolated([](const SandboxOptions& options) {
    const TempDir dir;
    ASSERT_TRUE(WriteFile(dir / "in", "hello"));
    Supervisor supervisor = StartOrDie(options);
    EXPECT_EQ(OutputOf(&supervisor, ShellRequest("cat")), "");
    const Fd input = OpenFile(dir / "in", O_RDONLY).value();
    SpawnRequest request = ShellRequest("cat");
    request.input = {InputSource::Kind::kFd, input.get()};
    EXPECT_EQ(OutputOf(&supervisor, request), "hello");
  });
}

TEST_P(SupervisorTest, EnvironmentAndDirectoryAreExact) {
  Isolated([](const SandboxOptions& options) {
    const TempDir dir;
    Supervisor supervisor = StartOrDie(options);
    SpawnRequest request = ShellRequest("");
    request.arguments = {"env"};
    request.environment = {"B=2", "PATH=/nowhere:/usr/bin:/bin", "A=x y"};
    EXPECT_EQ(OutputOf(&supervisor, request), "B=2\nPATH=/nowhere:/usr/bin:/bin\nA=x y\n");
    request.arguments = {"pwd"};
    request.directory = dir.path();
    EXPECT_EQ(OutputOf(&supervisor, request), dir.path() + "\n");
  });
}

TEST_P(SupervisorTest, AScriptWithoutInterpreterIsGivenToTheShell) {
  Isolated([](const SandboxOptions& options) {
    const TempDir dir;
    ASSERT_TRUE(WriteFile(dir / "script", "echo \"$0 $1\"\n"));
    ASSERT_EQ(::chmod((dir / "script").c_str(), 0755), 0);
    Supervisor supervisor = StartOrDie(options);
    SpawnRequest request = ShellRequest("");
    request.environment = {"PATH=/nowhere:" + dir.path()};
    request.arguments = {"script", "a b"};
    EXPECT_EQ(OutputOf(&supervisor, request), (dir / "script") + " a b\n");
  });
}

TEST_P(SupervisorTest, ProgramsInheritNothingOfOurs) {
  Isolated([](const SandboxOptions& options) {
    const Fd leaky(::open("/dev/null", O_RDONLY));  // Not close-on-exec.
    (void)std::signal(SIGUSR2, SIG_IGN);
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    ::sigprocmask(SIG_BLOCK, &blocked, nullptr);
    Supervisor supervisor = StartOrDie(options);
    // The last one is the folder that ls reads.
    EXPECT_EQ(OutputOf(&supervisor, ShellRequest("ls /proc/self/fd")), "0\n1\n2\n3\n");
    EXPECT_EQ(OutputOf(&supervisor, ShellRequest("grep -E 'Sig(Blk|Ign)' /proc/self/status")),
              "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
    EXPECT_EQ(OutputOf(&supervisor, ShellRequest("ulimit -c")), "0\n");
  });
}

std::size_t CountDescriptors(const std::string& process) {
  const std::filesystem::directory_iterator fds("/proc/" + process + "/fd");
  return static_cast<std::size_t>(std::distance(begin(fds), end(fds)));
}

TEST_P(SupervisorTest, AThousandSpawnsLeakNothing) {
  Isolated([](const SandboxOptions& options) {
    Supervisor supervisor = StartOrDie(options);
    const std::string helper = std::to_string(supervisor.helper_pid());
    const Fd input = OpenFile("/dev/null", O_RDONLY).value();
    SpawnRequest good = ShellRequest("");
    good.arguments = {"/bin/true"};
    good.input = {InputSource::Kind::kFd, input.get()};
    SpawnRequest bad = good;
    bad.arguments = {"/nowhere"};
    SpawnAndWait(&supervisor, good);
    const std::size_t ours = CountDescriptors("self");
    const std::size_t theirs = CountDescriptors(helper);
    for (int i = 0; i < 500; ++i) {
      ASSERT_EQ(SpawnAndWait(&supervisor, good).ShellStatus(), 0);
      ASSERT_EQ(SpawnAndWait(&supervisor, bad).ShellStatus(), 127);
    }
    EXPECT_EQ(CountDescriptors("self"), ours);
    EXPECT_EQ(CountDescriptors(helper), theirs);
  });
}

TEST_P(SupervisorTest, ARequestThatDoesNotFitIsRefused) {
  Isolated([](const SandboxOptions& options) {
    Supervisor supervisor = StartOrDie(options);
    SpawnRequest request = ShellRequest("true");
    request.environment.assign(100, std::string(100'000, 'x'));
    const auto spawned = supervisor.Spawn(request);
    ASSERT_FALSE(spawned);
    EXPECT_EQ(spawned.error().code, ErrorCode::kInvalid);
    EXPECT_FALSE(supervisor.running());
    request.environment.assign(100, std::string(100, 'x'));
    EXPECT_EQ(SpawnAndWait(&supervisor, request).ShellStatus(), 0);
  });
}

TEST_P(SupervisorTest, ProgramsHaveTheSameAddressesEachTime) {
  Isolated([](const SandboxOptions& options) {
    Supervisor supervisor = StartOrDie(options);
    if (::personality(ADDR_NO_RANDOMIZE) < 0) GTEST_SKIP() << "this machine does not allow it";
    const SpawnRequest stack = ShellRequest("grep -F '[stack]' /proc/self/maps");
    const std::string first = OutputOf(&supervisor, stack);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(OutputOf(&supervisor, stack), first);
  });
}

TEST_P(SupervisorTest, RunsAsAnotherUser) {
  if (::getuid() != 0 || GetParam() == Containment::kUnprivileged) {
    GTEST_SKIP() << "changing the user needs root";
  }
  Isolated([](const SandboxOptions& options) {
    Supervisor supervisor = StartOrDie(options);
    SpawnRequest request = ShellRequest("id -u; id -g; id -G");
    request.identity = Identity{1234, 2345, {2345, 3456}};
    EXPECT_EQ(OutputOf(&supervisor, request), "1234\n2345\n2345 3456\n");
    EXPECT_EQ(OutputOf(&supervisor, ShellRequest("id -u")), "0\n");
  });
}

TEST_P(SupervisorTest, ADeadHelperIsAnError) {
  Isolated([](const SandboxOptions& options) {
    Supervisor supervisor = StartOrDie(options);
    ASSERT_EQ(::kill(supervisor.helper_pid(), SIGKILL), 0);
    const auto spawned = supervisor.Spawn(ShellRequest("true"));
    if (spawned) {  // The helper died after it took the request, or before it did.
      EXPECT_FALSE(supervisor.Wait());
    }
    EXPECT_FALSE(supervisor.running());
    EXPECT_FALSE(supervisor.Spawn(ShellRequest("true")));
  });
}

TEST(Identity, NamesAndNumbersAreLookedUp) {
  EXPECT_EQ(LookUpUser("root")->uid, 0U);
  EXPECT_EQ(LookUpUser("0")->gid, 0U);
  EXPECT_EQ(LookUpUser("no such user").error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace tornfs::harness
