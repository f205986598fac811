#include "journal/barrier_worker.h"

namespace tornfs::journal {

BarrierWorker::~BarrierWorker() {
  if (!thread_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

Status BarrierWorker::RunBoth(std::function<Status()> aside, const std::function<Status()>& here) {
  {
    const std::scoped_lock lock(mutex_);
    task_ = std::move(aside);
    result_.reset();
    if (!thread_.joinable()) thread_ = std::thread([this] { Loop(); });
  }
  changed_.notify_all();
  const Status first = here();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return result_.has_value(); });
  return first ? *result_ : first;
}

void BarrierWorker::Loop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ending_ || task_; });
    if (ending_) return;
    const std::function<Status()> task = std::move(task_);
    task_ = nullptr;
    lock.unlock();
    Status result = task();
    lock.lock();
    result_ = std::move(result);
    changed_.notify_all();
  }
}

}  // namespace tornfs::journal
