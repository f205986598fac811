// The helper process of a Supervisor, from its first instruction to its last.
//
// Two threads. The first takes requests, starts programs, waits for every process of a spawn to be
// gone and reports. The second answers the owner's control socket, so that a kill or the owner's
// death is served while the first waits in the start of a program for a mount.
//
// Messages. Request socket: one byte per request, perhaps with a descriptor; back: an ExitReport.
// Control socket: kKillMessage, answered with the same byte; kStopMessage, answered by the end of
// the process. Its end of file means that the owner died.
//
// Internal to the supervisor.
#pragma once

#include <type_traits>

#include "common/fd.h"
#include "harness/kill_cgroup.h"
#include "harness/start_plan.h"

namespace tornfs::harness {

inline constexpr char kSpawnMessage = 's';
inline constexpr char kKillMessage = 'k';
inline constexpr char kStopMessage = 'q';

static_assert(std::is_trivially_copyable_v<ExitReport>, "it travels through a socket");

// The first message on the request socket: how the preparation went.
struct ReadyMessage {
  bool ready = false;
  ErrorCode code = ErrorCode::kIo;
  int sys_errno = 0;
  char context[200] = {};
};

// The helper's ends and what it shares with its owner.
struct HelperEnds {
  Fd requests;
  Fd control;
  PlanDescriptors descriptors;
  SharedMemory* shared;
  KillCgroup* cgroup;  // Or null.
};

// Runs in the freshly forked child; ends the process.
[[noreturn]] void RunHelper(HelperEnds ends, const SandboxOptions& options);

}  // namespace tornfs::harness
