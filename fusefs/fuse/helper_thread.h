// HelperThread: one thread for calls that may wait for the mount that this process serves, so that
// the loop can go on serving meanwhile.
//
// Threads: all members are for the loop's thread. The thread starts with the first work and blocks
// all signals.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "common/fd.h"
#include "fusefs/fuse/event_loop.h"

namespace tornfs {

class HelperThread {
 public:
  // Errors: kIo. `loop` must outlive the object.
  [[nodiscard]] static Result<std::unique_ptr<HelperThread>> Create(EventLoop& loop);
  ~HelperThread();
  HelperThread(const HelperThread&) = delete;
  HelperThread& operator=(const HelperThread&) = delete;

  // Queues `work`; pieces of work run one after the other.
  void Post(std::function<void()> work);
  // The same, and calls `then` from the loop when `work` has returned.
  void PostThen(std::function<void()> work, std::function<void()> then);
  // Runs `work` and pumps the loop until it has returned.
  void Run(const std::function<void()>& work);
  // Pumps the loop until nothing is queued or running.
  void Finish();
  // Finishes, then joins the thread.
  void Stop();

 private:
  HelperThread(EventLoop& loop, Fd event);
  void Start();
  void Work();
  void RunThen();
  [[nodiscard]] std::uint64_t finished();

  EventLoop& loop_;
  Fd event_;                  // Readable when some work has finished.
  std::uint64_t posted_ = 0;  // Of the loop's thread alone.
  std::thread thread_;

  std::mutex mutex_;  // Guards what follows.
  std::condition_variable wake_;
  std::deque<std::function<void()>> queue_;
  std::vector<std::function<void()>> then_;  // Due on the loop's thread.
  std::uint64_t finished_ = 0;
  bool stop_ = false;
};

}  // namespace tornfs
