#include "fusefs/fuse/server.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "common/check.h"
#include "common/fd.h"
#include "fusefs/fuse/helper_thread.h"
#include "fusefs/fuse/mount_context.h"
#include "fusefs/fuse/ops.h"
#include "fusefs/fuse/session.h"

namespace tornfs {

class Server::Impl {
 public:
  Impl(Engine& engine, EventLoop& loop, const MountOptions& options)
      : context(engine, options), loop_(loop) {}

  Status Start();
  void Unmount();
  // Serves until the kernel has nothing queued.
  void Drain();
  void DropEpoch(std::vector<NodeTable::Dead> dead);
  void ServePutAside(Session::PutAsideUntil until);
  [[nodiscard]] bool died() const { return died_; }
  [[nodiscard]] HelperThread& helper() { return *helper_; }
  void StopThreads();

  MountContext context;

 private:
  bool Serve();
  void SetTimer();

  EventLoop& loop_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<HelperThread> helper_;
  Fd timer_;  // Set for the next request that was put aside.
  int depth_ = 0;
  // For pulling the pages of one node alone: what the other one does may wait for that.
  std::unique_ptr<HelperThread> puller_;
  bool died_ = false;
};

Status Server::Impl::Start() {
  struct stat found {};
  if (stat(context.options.mount_point.c_str(), &found) != 0) {
    return IoError(errno, context.options.mount_point);
  }
  if (!S_ISDIR(found.st_mode)) return IoError(ENOTDIR, context.options.mount_point);
  auto helper = HelperThread::Create(loop_);
  if (!helper) return tl::make_unexpected(helper.error());
  helper_ = std::move(*helper);
  auto puller = HelperThread::Create(loop_);
  if (!puller) return tl::make_unexpected(puller.error());
  puller_ = std::move(*puller);
  context.pull_node = [this](fuse_ino_t node, std::function<void()> then) {
    puller_->PostThen([this, node] { session_->NotifyPages(node); }, std::move(then));
  };
  auto session = Session::Mount(context);
  if (!session) return tl::make_unexpected(session.error());
  session_ = std::move(*session);
  loop_.AddFd(
      session_->fd(), EPOLLIN, [this](std::uint32_t) { (void)Serve(); },
      EventLoop::Nesting::kAllowed);
  constexpr std::chrono::seconds kPatience{10};
  const bool greeted = loop_.RunUntil([this] { return context.initialized || died_; },
                                      EventLoop::Clock::now() + kPatience);
  if (!greeted || died_) return Fail(ErrorCode::kIo, "the kernel does not talk to the mount");
  context.drop_pages = [this](Ino ino) {
    const fuse_ino_t node = context.nodes.NodeOf(ino);
    helper_->Post([session = session_.get(), node] { session->NotifyPages(node); });
  };
  context.kernel_epochs = context.options.use_kernel_epochs && session_->NotifyEpoch();
  return {};
}

bool Server::Impl::Serve() {
  ++depth_;
  const bool served = session_->ServeOne();
  --depth_;
  if (session_->NextDue()) SetTimer();
  if (!died_ && session_->ended()) {
    died_ = true;
    loop_.RemoveFd(session_->fd());
  }
  return served;
}

void Server::Impl::SetTimer() {
  if (died_ || !session_->NextDue()) return;
  if (!timer_.valid()) {
    timer_ = Fd(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
    CHECK(timer_.valid());
    loop_.AddFd(timer_.get(), EPOLLIN, [this](std::uint32_t) {
      std::uint64_t expirations = 0;
      (void)!read(timer_.get(), &expirations, sizeof expirations);
      ServePutAside(Session::PutAsideUntil::kDue);
    });
  }
  // steady_clock is CLOCK_MONOTONIC.
  const auto due = session_->NextDue()->time_since_epoch();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(due);
  itimerspec when{};
  when.it_value.tv_sec = seconds.count();
  when.it_value.tv_nsec = std::chrono::nanoseconds(due - seconds).count();
  CHECK(timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &when, nullptr) == 0);
}

void Server::Impl::ServePutAside(Session::PutAsideUntil until) {
  if (died_) return;
  ++depth_;
  session_->ServePutAside(until);
  --depth_;
  SetTimer();
}

void Server::Impl::Drain() {
  while (!died_ && Serve()) {
  }
}

void Server::Impl::StopThreads() {
  if (puller_) puller_->Stop();
  if (helper_) helper_->Stop();
}

void Server::Impl::Unmount() {
  StopThreads();
  if (!session_) return;
  if (!died_) loop_.RemoveFd(session_->fd());
  if (timer_.valid()) loop_.RemoveFd(timer_.get());
  timer_.Reset();
  died_ = true;
  session_->Detach();
  if (depth_ == 0) session_.reset();  // Else a handler is still to answer.
}

void Server::Impl::DropEpoch(std::vector<NodeTable::Dead> dead) {
  if (died_) return;
  std::vector<fuse_ino_t> open;
  std::set<std::string> names;
  if (context.kernel_epochs) {
    (void)session_->NotifyEpoch();
  } else {
    names.swap(context.root_names);
  }
  session_->NotifyAttributes(FUSE_ROOT_ID);
  for (const NodeTable::Dead& node : dead) {
    if (node.open) {
      open.push_back(node.node);
    } else {
      session_->NotifyAttributes(node.node);  // Without a handle nobody gets at pages.
    }
  }
  if (open.empty() && names.empty()) return;
  helper_->Post([session = session_.get(), open = std::move(open), names = std::move(names)] {
    for (const std::string& name : names) session->NotifyName(name);
    for (const fuse_ino_t node : open) session->NotifyPages(node);
  });
}

Server::Server(Engine& engine, EventLoop& loop, std::unique_ptr<Impl> impl)
    : engine_(engine), loop_(loop), impl_(std::move(impl)) {}

Server::~Server() { Unmount(); }

Result<std::unique_ptr<Server>> Server::Mount(Engine& engine, EventLoop& loop,
                                              const MountOptions& options) {
  std::unique_ptr<Server> server(
      new Server(engine, loop, std::make_unique<Impl>(engine, loop, options)));
  if (const Status started = server->impl_->Start(); !started) {
    return tl::make_unexpected(started.error());
  }
  return server;
}

const std::string& Server::mount_point() const { return impl_->context.options.mount_point; }
bool Server::mount_died() const { return impl_->died(); }
void Server::Unmount() { impl_->Unmount(); }

std::uint64_t Server::epoch() const { return impl_->context.nodes.epoch(); }

void Server::BeginEpoch() {
  MountContext& context = impl_->context;
  context.joiner.Reset();
  context.special.BeginEpoch();
  context.quiesced = false;
  impl_->DropEpoch(context.nodes.BeginEpoch());
  // They are of a dead epoch now, and the kernel holds pages for them.
  impl_->ServePutAside(Session::PutAsideUntil::kEnd);
}

void Server::FinishNotifications() { impl_->helper().Finish(); }

void Server::SetHook(Hook* hook) { impl_->context.hook = hook; }
void Server::SetFaultHook(FaultHook* hook) { impl_->context.faults = hook; }
void Server::Quiesce(bool on) { impl_->context.quiesced = on; }
bool Server::quiesced() const { return impl_->context.quiesced; }

bool Server::sees_syncs() const { return impl_->context.sees_syncs; }
void Server::SetSyncFilter(std::function<bool(pid_t)> counts) {
  impl_->context.sync_counts = std::move(counts);
}

void Server::Sync(pid_t caller, const std::function<void(int)>& answer) {
  const Status pulled = PullPages();
  answer(pulled ? PerformSyncfs(impl_->context, caller) : EIO);
  NotifyRefusal(impl_->context);
}

std::string Server::TakeStdout() { return impl_->context.special.TakeStdout(); }
void Server::SetPromises(std::string text) { impl_->context.special.SetPromises(std::move(text)); }
bool Server::promises_were_read() const { return impl_->context.special.promises_were_read(); }

void Server::SetQuestionLog(QuestionLog* log) { impl_->context.questions = log; }

void Server::RunElsewhere(const std::function<void()>& work) { impl_->helper().Run(work); }

Status Server::PullPages() {
  Status status;
  impl_->ServePutAside(Session::PutAsideUntil::kNow);  // Those hold pages.
  RunElsewhere([&] {
    const auto root = OpenFile(mount_point(), O_RDONLY | O_DIRECTORY);
    if (!root) {
      status = tl::make_unexpected(root.error());
    } else if (syncfs(root->get()) != 0 && errno != EIO) {
      // EIO is about pages that were refused: those of earlier epochs, or without space.
      status = IoError(errno, "syncfs " + mount_point());
    }
  });
  impl_->Drain();  // syncfs(2) on FUSE starts all the writing; it does not wait for the end.
  return status;
}

void Server::StopThreads() { impl_->StopThreads(); }

Server::Counters Server::counters() const { return impl_->context.counters; }

}  // namespace tornfs
