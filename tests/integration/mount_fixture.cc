#include "mount_fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>

#include "common/check.h"

namespace tornfs {

namespace {

constexpr std::chrono::seconds kPatience{100};

Nanoseconds Now() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

// A child that kept the session's descriptor would keep a dead mount alive.
void CloseFuseDescriptors() {
  DIR* list = opendir("/proc/self/fd");
  std::vector<int> fuse;
  while (const dirent* entry = readdir(list)) {
    std::array<char, 64> target{};
    if (readlinkat(dirfd(list), entry->d_name, target.data(), target.size() - 1) <= 0) continue;
    if (std::string(target.data()) == "/dev/fuse") fuse.push_back(std::atoi(entry->d_name));
  }
  closedir(list);
  for (const int fd : fuse) close(fd);
}

std::array<Fd, 2> Pipe() {
  std::array<int, 2> ends{};
  CHECK(pipe2(ends.data(), O_CLOEXEC) == 0);
  return {Fd(ends[0]), Fd(ends[1])};
}

}  // namespace

Child::Child(Server& server, const std::function<void(const Pause&)>& body) : server_(server) {
  server_.StopThreads();
  auto paused = Pipe();
  auto go_on = Pipe();
  std::fflush(stdout);
  pid_ = fork();
  CHECK(pid_ >= 0);
  if (pid_ == 0) {
    CloseFuseDescriptors();
    EXPECT_EQ(chdir(server_.mount_point().c_str()), 0);
    const Pause pause = [&] {
      char byte = 0;
      CHECK(write(paused[1].get(), "p", 1) == 1 && read(go_on[0].get(), &byte, 1) == 1);
    };
    try {
      body(pause);
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
    std::fflush(stdout);
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  exited_ = Fd(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
  paused_ = std::move(paused[0]);
  go_on_ = std::move(go_on[1]);
}

Child::~Child() {
  if (joined_) return;
  Kill();
}

void Child::UntilPause() {
  bool over = false;
  for (const int fd : {paused_.get(), exited_.get()}) {
    server_.loop().AddFd(fd, EPOLLIN, [&](std::uint32_t) { over = true; });
  }
  EXPECT_TRUE(server_.loop().RunUntil([&] { return over; }, EventLoop::Clock::now() + kPatience));
  for (const int fd : {paused_.get(), exited_.get()}) server_.loop().RemoveFd(fd);
  char byte = 0;
  EXPECT_EQ(read(paused_.get(), &byte, 1), 1) << "the child ended before its pause";
}

void Child::GoOn() { EXPECT_EQ(write(go_on_.get(), "g", 1), 1); }

int Child::Wait() {
  bool over = false;
  server_.loop().AddFd(exited_.get(), EPOLLIN, [&](std::uint32_t) { over = true; });
  if (!server_.loop().RunUntil([&] { return over; }, EventLoop::Clock::now() + kPatience)) {
    ADD_FAILURE() << "the child does not end";
    kill(pid_, SIGKILL);
    server_.loop().RunUntil([&] { return over; });
  }
  server_.loop().RemoveFd(exited_.get());
  int status = 0;
  EXPECT_EQ(waitpid(pid_, &status, 0), pid_);
  joined_ = true;
  return status;
}

void Child::Join() { EXPECT_EQ(Wait(), 0) << "see the child's failures above"; }

void Child::Kill() {
  kill(pid_, SIGKILL);
  (void)Wait();  // However it ended.
}

MountTest::MountTest(MountOptions options) {
  std::string name = testing::TempDir() + "tornfs-mount-XXXXXX";
  CHECK(mkdtemp(name.data()) != nullptr);
  mount_point_ = name;
  store_ = ContentStore::Open({}).value();
  engine_ = std::make_unique<Engine>(*store_, *FindModel("posix").value(), Now);
  loop_ = EventLoop::Create().value();
  options.mount_point = mount_point_;
  server_ = Server::Mount(*engine_, *loop_, options).value();
  Record();
}

MountTest::~MountTest() {
  server_.reset();
  EXPECT_EQ(rmdir(mount_point_.c_str()), 0);
}

void MountTest::InChild(const std::function<void()>& body) {
  Start([&](const Child::Pause&) { body(); })->Join();
}

std::unique_ptr<Child> MountTest::Start(const std::function<void(const Child::Pause&)>& body) {
  return std::make_unique<Child>(*server_, body);
}

void MountTest::Record() {
  engine_->SettleAll();
  engine_->Load(engine_->Snapshot(), true);
  server_->BeginEpoch();
  server_->FinishNotifications();
}

std::vector<std::string> MountTest::Ops() const {
  std::vector<std::string> ops;
  for (const Op& op : engine_->recording()->ops) {
    std::string text(OpKindName(op.kind));
    text += " " + op.path;
    if (!op.to.empty()) text += " " + op.to;
    if (op.length != 0) text += " " + std::to_string(op.length) + "@" + std::to_string(op.offset);
    ops.push_back(std::move(text));
  }
  return ops;
}

void MountTest::PowerLoss(bool keep_all) {
  const Window window = engine_->CrashWindow(Tear::kPage);
  engine_->PowerLoss(window, keep_all ? window.All() : window.None());
  server_->BeginEpoch();
  server_->FinishNotifications();
}

std::string Slurp(const std::string& path) {
  auto text = ReadFile(path);
  EXPECT_TRUE(text) << text.error().Message();
  return text ? *text : std::string();
}

void Spew(const std::string& path, const std::string& text) {
  const auto file = OpenFile(path, O_WRONLY | O_CREAT | O_TRUNC);
  ASSERT_TRUE(file) << file.error().Message();
  EXPECT_TRUE(WriteAll(file->get(), text));
}

}  // namespace tornfs

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (access("/dev/fuse", R_OK | W_OK) != 0 && !testing::GTEST_FLAG(list_tests)) {
    std::puts("no /dev/fuse here: skipped");
    return 77;
  }
  if (geteuid() == 0) {
    CHECK(unshare(CLONE_NEWNS) == 0);
    CHECK(mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0);
  }
  return RUN_ALL_TESTS();
}
