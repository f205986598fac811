// StartPlan: a SpawnRequest laid out so that the start of a program needs no memory allocation, no
// search and no decision: the owner writes it into memory it shares with the helper, at the same
// address in both, and the helper's child reads it where it lies.
//
// Internal to the supervisor.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "common/result.h"
#include "harness/supervisor.h"

namespace tornfs::harness {

// What the child does to make one of its descriptors 0, 1 and 2.
struct StreamPlan {
  enum class Action : std::uint8_t {
    kKeep,       // The helper's own.
    kDuplicate,  // `fd` of the helper.
    kOpen,       // `path`, for appending.
    kReceived,   // The descriptor that came with the request.
  };
  Action action = Action::kKeep;
  int fd = -1;
  const char* path = nullptr;
};

// Pointers lead into the same shared memory.
struct StartPlan {
  std::uint64_t spawn;
  const char* const* candidates;   // Files to try to execute, in order; ends with null.
  const char* const* arguments;    // Ends with null.
  const char** shell_arguments;    // For a script without "#!"; the child sets element 1.
  const char* const* environment;  // Ends with null.
  const char* directory;
  StreamPlan streams[3];
  bool change_identity;
  uid_t uid;
  gid_t gid;
  const gid_t* groups;
  std::size_t group_count;
};

// The memory that owner and helper share. The owner writes `plan` while nothing runs and
// `killed_spawn` at any time; the child writes `stage` and `stage_errno` when its start fails.
// What `plan` points to lies between the end of this struct and the end of the mapping.
struct alignas(64) SharedMemory {
  // Spawns up to this number must not execute another instruction of theirs.
  std::atomic<std::uint64_t> killed_spawn;
  StartPlan plan;
  SpawnStage stage;
  int stage_errno;
  // Set once, before the helper is forked: SandboxOptions::no_mounting.
  bool drop_sys_admin;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

// Room for a request: the kernel takes 2 MiB of arguments and environment at most by default.
inline constexpr std::size_t kSharedBytes = std::size_t{8} << 20;

// The helper's descriptors a plan refers to.
struct PlanDescriptors {
  int null;
  int output;  // Captured standard output.
  int error;
};

// Writes `request` as spawn number `spawn` into `shared`.
// Errors: kInvalid when it does not fit.
[[nodiscard]] Status WriteStartPlan(const SpawnRequest& request, std::uint64_t spawn,
                                    const PlanDescriptors& descriptors, SharedMemory* shared);

}  // namespace tornfs::harness
