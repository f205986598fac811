// Seccomp user notification: the owner of a Supervisor learns of chosen system calls before the
// kernel carries them out, and decides what becomes of them.
//
// Why. The kernel tells a FUSE filesystem nothing of sync(2) and syncfs(2), unless it lies on a
// block device, and then of those of the whole machine, each of which would wait for us. A filter
// on the helper (harness/supervisor.h) is inherited by exactly the programs under test, and costs
// the calls that it lets pass next to nothing.
//
// A caught thread waits until it is answered; it can be killed while it waits.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "common/fd.h"
#include "common/result.h"

namespace tornfs::harness {

enum class SyscallWatch : std::uint8_t {
  kNone,
  kSyncs,           // sync(2) and syncfs(2).
  kSyncsAndWrites,  // Also what opens a file for writing or changes a directory, by path.
};

// For the helper: from here on the calls of this thread and of the processes it starts are watched;
// it must not make any of them while the owner does not serve them. Returns the descriptor to be
// read by the owner. There is no way back. Errors: kMissing without permission (root), or where an
// outer sandbox has such a filter.
[[nodiscard]] Result<Fd> WatchSyscalls(SyscallWatch watch);

// Whether WatchSyscalls would work here, as far as that can be told without doing it.
[[nodiscard]] bool CanWatchSyscalls();

enum class CaughtKind : std::uint8_t {
  kSync,
  kSyncfs,
  kOpen,    // For writing, or to create.
  kCreate,  // A name that must not be there: mkdir, symlink, mknod, the new name of a link.
  kChange,  // A name that must be there: unlink, rename, chmod and the like.
};

struct CaughtSyscall {
  std::uint64_t id = 0;  // For the answer.
  pid_t thread = 0;      // As the owner sees it.
  CaughtKind kind = CaughtKind::kSync;
  int fd = -1;              // kSyncfs: its argument. Others: the directory, or AT_FDCWD.
  std::uint64_t path = 0;   // Its address in the program; 0: none.
  std::uint64_t flags = 0;  // kOpen: those of open(2).
};

// For the owner: the next caught call, if one is waiting. Never waits once `listener` is readable.
[[nodiscard]] std::optional<CaughtSyscall> TakeSyscall(int listener);

// The call returns -`error`, or 0, without having been made.
void AnswerSyscall(int listener, const CaughtSyscall& caught, int error);
// The call is made as if nobody had asked.
void LetSyscallGoOn(int listener, const CaughtSyscall& caught);

}  // namespace tornfs::harness
