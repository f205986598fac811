// ProgramRunner: runs one program after the other under a Supervisor while a loop is pumped.
//
// Threads: the loop's.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "common/result.h"
#include "fusefs/fuse/event_loop.h"
#include "harness/live/crasher.h"
#include "harness/supervisor.h"

namespace tornfs::harness {

class ProgramRunner : public Victims {
 public:
  // `loop` must outlive this.
  ProgramRunner(EventLoop& loop, Supervisor supervisor);
  // Kills what runs and waits for its end.
  ~ProgramRunner() override;
  ProgramRunner(const ProgramRunner&) = delete;
  ProgramRunner& operator=(const ProgramRunner&) = delete;

  struct Limits {
    std::optional<std::chrono::milliseconds> timeout = {};
    // Asked after every event of the loop; true ends the program.
    std::function<bool()> stop = {};
  };
  struct Ended {
    ExitReport report;
    bool timed_out = false;
    bool stopped = false;
  };
  // Runs a program to its end, or to that of its limits. Errors: kInvalid (too large a request),
  // kIo (the helper is gone).
  [[nodiscard]] Result<Ended> Run(const SpawnRequest& request, const Limits& limits);

  // What the last program wrote to a captured stream; see Supervisor::TakeOutput().
  [[nodiscard]] Result<std::string> TakeOutput(Stream stream) {
    return supervisor_.TakeOutput(stream);
  }

  [[nodiscard]] const Supervisor& supervisor() const { return supervisor_; }

  void Kill() override;
  // Pumps until the program and all it started are gone. Returns how many programs that were.
  [[nodiscard]] std::size_t AwaitGone() override;

 private:
  void Poll();
  // Whether nothing runs (any more).
  [[nodiscard]] bool idle() const { return !supervisor_.running(); }

  EventLoop& loop_;
  Supervisor supervisor_;
  std::optional<Result<ExitReport>> report_;  // Of the last program, once it has ended.
};

}  // namespace tornfs::harness
