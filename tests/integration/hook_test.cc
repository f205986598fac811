// Crashes at an exact op, as the owner of a mount makes them.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>
#include <string>

#include "mount_fixture.h"

namespace tornfs {
namespace {

using Strings = std::vector<std::string>;

// Kills `victim` when the trigger fires, and loses power with everything kept.
class Crash : public Hook {
 public:
  Crash(Server& server, const std::string& trigger)
      : server_(server), armed_(ParseTrigger(trigger).value()) {
    server_.SetHook(this);
  }
  ~Crash() override { server_.SetHook(nullptr); }
  Crash(const Crash&) = delete;
  Crash& operator=(const Crash&) = delete;

  bool Consult(When when, const TriggerRequest& request) override {
    if (!armed_.Fires(when, request)) return true;
    request_ = request;
    server_.Quiesce(true);
    pending_ = server_.engine().pending().size();
    next_op_ = server_.engine().next_op();
    if (victim != 0) kill(victim, SIGKILL);
    return false;
  }
  void Refused() override {
    const Window window = server_.engine().CrashWindow(Tear::kPage);
    server_.engine().PowerLoss(window, window.All());
    server_.BeginEpoch();
    server_.FinishNotifications();
    refused = true;
  }

  pid_t victim = 0;
  bool refused = false;
  std::optional<TriggerRequest> request_;
  std::size_t pending_ = 0;
  OpNumber next_op_ = 0;

 private:
  Server& server_;
  ArmedTrigger armed_;
};

class HookTest : public MountTest {};

TEST_F(HookTest, BeforeAnOpNothingOfItIsDone) {
  Crash crash(server(), "before rename #2");
  InChild([] {
    Spew("a", "x");
    EXPECT_EQ(rename("a", "b"), 0);
    EXPECT_EQ(rename("b", "c"), -1);
    EXPECT_EQ(errno, EIO);
  });
  InChild([] {
    EXPECT_EQ(access("b", F_OK), 0);
    EXPECT_EQ(access("c", F_OK), -1);
  });
  EXPECT_TRUE(crash.refused);
  EXPECT_EQ(crash.request_->path, "b");
  EXPECT_EQ(crash.request_->to, "c");
  EXPECT_EQ(crash.request_->comm, "integration_tes");
}

TEST_F(HookTest, AfterAnOpItIsDoneAndNotAnswered) {
  Crash crash(server(), "after write a/*");
  InChild([] {
    ASSERT_EQ(mkdir("a", 0755), 0);
    const int fd = open("a/b", O_CREAT | O_WRONLY, 0644);
    EXPECT_EQ(write(fd, "data", 4), -1);
    EXPECT_EQ(errno, EIO);
  });
  InChild([] { EXPECT_EQ(Slurp("a/b"), "data"); });
  EXPECT_TRUE(crash.refused);
}

TEST_F(HookTest, DuringABarrierNothingIsDurableYet) {
  Crash crash(server(), "during fsync");
  InChild([] {
    const int fd = open("a", O_CREAT | O_WRONLY, 0644);
    EXPECT_EQ(write(fd, "data", 4), 4);
    EXPECT_EQ(fsync(fd), -1);
  });
  EXPECT_EQ(crash.pending_, 3U);  // The name, the data, the size.
}

TEST_F(HookTest, AfterABarrierItIsDurable) {
  Crash crash(server(), "after fsync");
  InChild([] {
    const int fd = open("a", O_CREAT | O_WRONLY, 0644);
    EXPECT_EQ(write(fd, "data", 4), 4);
    EXPECT_EQ(fsync(fd), -1);
  });
  EXPECT_EQ(crash.pending_, 1U);  // The name.
}

TEST_F(HookTest, AWriteInPartsIsOneOp) {
  InChild([] { Spew("a", std::string(16384, 'o')); });
  Record();
  Crash crash(server(), "after write #1");
  InChild([] {
    const int fd = open("a", O_WRONLY);
    const std::string bytes(5000, 'n');
    EXPECT_EQ(pwrite(fd, bytes.data(), bytes.size(), 4090), 6);  // As on an I/O error half-way.
  });
  InChild([] { EXPECT_EQ(Slurp("a").substr(4090, 5000), std::string(5000, 'n')); });
  EXPECT_TRUE(crash.refused);
}

TEST_F(HookTest, TheOpNumberIsThatOfTheRecording) {
  Crash crash(server(), "before op #3");
  InChild([] {
    EXPECT_EQ(mkdir("a", 0755), 0);
    EXPECT_EQ(mkdir("a", 0755), -1);  // No op.
    EXPECT_EQ(mkdir("b", 0755), 0);
    EXPECT_EQ(mkdir("c", 0755), -1);
  });
  EXPECT_EQ(crash.next_op_, 3U);
  EXPECT_EQ(crash.request_->path, "c");
}

TEST_F(HookTest, AKilledProcessNeverSeesTheError) {
  Crash crash(server(), "before write #3");
  const auto child = Start([](const Child::Pause& pause) {
    pause();
    const int fd = open("a", O_CREAT | O_WRONLY | O_APPEND, 0644);
    while (write(fd, "x", 1) == 1) {
    }
    mkdir("survived", 0755);
  });
  child->UntilPause();
  crash.victim = child->pid();
  child->GoOn();
  EXPECT_TRUE(server().loop().RunUntil([&] { return crash.refused; },
                                       EventLoop::Clock::now() + std::chrono::seconds(10)));
  child->Kill();
  InChild([] {
    EXPECT_EQ(Slurp("a"), "xx");
    EXPECT_EQ(access("survived", F_OK), -1);
  });
}

}  // namespace
}  // namespace tornfs
