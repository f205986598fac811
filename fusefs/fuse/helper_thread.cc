#include "fusefs/fuse/helper_thread.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "common/check.h"

namespace tornfs {

Result<std::unique_ptr<HelperThread>> HelperThread::Create(EventLoop& loop) {
  Fd event(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event.valid()) return IoError(errno, "eventfd");
  return std::unique_ptr<HelperThread>(new HelperThread(loop, std::move(event)));
}

HelperThread::HelperThread(EventLoop& loop, Fd event) : loop_(loop), event_(std::move(event)) {
  // Pumping may nest, and the innermost pump must wake for whoever waits outside.
  loop_.AddFd(
      event_.get(), EPOLLIN,
      [this](std::uint32_t) {
        std::uint64_t count = 0;
        (void)!read(event_.get(), &count, sizeof count);  // Only a wake-up; may be gone already.
        RunThen();
      },
      EventLoop::Nesting::kAllowed);
}

HelperThread::~HelperThread() {
  Stop();
  loop_.RemoveFd(event_.get());
}

void HelperThread::Start() {
  sigset_t all;
  sigset_t old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  stop_ = false;
  thread_ = std::thread([this] { Work(); });
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
}

void HelperThread::Work() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return stop_ || !queue_.empty(); });
    if (queue_.empty()) return;
    std::function<void()> work = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    work();
    work = nullptr;
    lock.lock();
    ++finished_;
    const std::uint64_t one = 1;
    CHECK(write(event_.get(), &one, sizeof one) == sizeof one);
  }
}

std::uint64_t HelperThread::finished() {
  const std::lock_guard lock(mutex_);
  return finished_;
}

void HelperThread::Post(std::function<void()> work) {
  if (!thread_.joinable()) Start();
  ++posted_;
  const std::lock_guard lock(mutex_);
  queue_.push_back(std::move(work));
  wake_.notify_one();
}

void HelperThread::PostThen(std::function<void()> work, std::function<void()> then) {
  Post([this, work = std::move(work), then = std::move(then)]() mutable {
    work();
    const std::lock_guard lock(mutex_);
    then_.push_back(std::move(then));
  });
}

void HelperThread::RunThen() {
  std::vector<std::function<void()>> due;
  {
    const std::lock_guard lock(mutex_);
    due.swap(then_);
  }
  for (const auto& then : due) then();
}

void HelperThread::Run(const std::function<void()>& work) {
  Post(work);
  const std::uint64_t mine = posted_;
  loop_.RunUntil([this, mine] { return finished() >= mine; });
}

void HelperThread::Finish() {
  loop_.RunUntil([this] { return finished() == posted_; });
}

void HelperThread::Stop() {
  if (!thread_.joinable()) return;
  Finish();
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    wake_.notify_one();
  }
  thread_.join();
  RunThen();
}

}  // namespace tornfs
