// From a StartPlan to a running program, at the price of vfork.
//
// The child shares the helper's memory and runs on a stack of its own until it executes; only the
// thread that started it waits for that. Between start and execution the child makes bare system
// calls and touches nothing but the plan: it shares the C library's state with the other thread of
// the helper.
//
// Internal to the supervisor.
#pragma once

#include <sys/types.h>

#include "harness/kill_cgroup.h"
#include "harness/start_plan.h"

namespace tornfs::harness {

// The signals the helper ignores and the child puts back to their default.
inline constexpr int kIgnoredSignals[] = {1 /*HUP*/,   2 /*INT*/,   3 /*QUIT*/,  13 /*PIPE*/,
                                          15 /*TERM*/, 20 /*TSTP*/, 21 /*TTIN*/, 22 /*TTOU*/};

class ProgramStarter {
 public:
  // `cgroup` is where children are born, or null; it must have a leaf already, and outlive this.
  // Errors: kIo when there is no memory for the stack.
  [[nodiscard]] static Result<ProgramStarter> Create(const KillCgroup* cgroup);

  // Starts `shared->plan`. `received_fd` is the descriptor for StreamPlan::kReceived.
  // Returns the process id once the program executes or the start has failed, which
  // `shared->stage` tells; or -1 with the reason in `shared` when there is no process.
  // Waits for the filesystems that hold the plan's files.
  [[nodiscard]] pid_t Start(SharedMemory* shared, int received_fd) const;

 private:
  ProgramStarter(char* stack, const KillCgroup* cgroup) : stack_(stack), cgroup_(cgroup) {}

  // Whether a child can be born in the cgroup and live.
  [[nodiscard]] bool TryBirthInCgroup() const;

  char* stack_;  // Lives as long as the helper.
  const KillCgroup* cgroup_;
  bool born_in_cgroup_ = false;  // Else children join it by themselves, which is slower.
};

}  // namespace tornfs::harness
