// WorkerPool: forked processes that report in lines of text, each through a pipe of its own.
//
// Threads: one. The process must be single-threaded when workers are started.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "common/fd.h"
#include "common/result.h"

namespace tornfs::harness {

class WorkerPool {
 public:
  WorkerPool() = default;
  // Kills what still runs and waits for its end.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // What a worker does: it writes lines to `pipe` and returns its exit code.
  using Body = std::function<int(int pipe)>;
  // Forks one worker; it ends with this process at the latest. Errors: kIo.
  [[nodiscard]] Status Start(const Body& body);

  [[nodiscard]] bool any() const;
  // A worker ended with anything but 0.
  [[nodiscard]] bool failed() const { return failed_; }

  // Waits until a worker says something or ends, or `also` is readable, for `most` at longest, and
  // calls `take` with each line that is complete. Returns whether `also` is readable; -1: nothing.
  bool Turn(std::chrono::milliseconds most, int also,
            const std::function<void(const std::string& line)>& take);

  void Signal(int signal) const;

 private:
  struct Process {
    pid_t pid = -1;  // -1: ended, and waited for.
    Fd pipe;
    std::string buffered;
  };
  void Receive(Process& process, const std::function<void(const std::string& line)>& take);

  std::vector<Process> processes_;
  bool failed_ = false;
};

}  // namespace tornfs::harness
