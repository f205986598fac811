// One thread that waits for one barrier while its owner waits for another.
//
// A barrier is milliseconds of waiting, and two on different files can wait together. The thread
// starts with the first use, so a journal without segments has none.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "journal/error.h"

namespace tornfs::journal {

// Owned and used by one thread.
class BarrierWorker {
 public:
  BarrierWorker() = default;
  BarrierWorker(const BarrierWorker&) = delete;
  BarrierWorker& operator=(const BarrierWorker&) = delete;
  ~BarrierWorker();

  // Runs `aside` on the worker and `here` on the caller, and returns when both are done.
  // Returns the first failure, `here` first.
  [[nodiscard]] Status RunBoth(std::function<Status()> aside, const std::function<Status()>& here);

 private:
  void Loop();

  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<Status()> task_;
  std::optional<Status> result_;
  bool ending_ = false;
};

}  // namespace tornfs::journal
