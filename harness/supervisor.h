// Supervisor: starts, contains and kills the programs under test, from a helper process.
//
// Why a process of its own. The owner serves a FUSE mount from one thread, and the start of a
// program changes directory, opens files and executes on that very mount. So nothing the owner does
// may wait for a program: it hands a request over and hears of the end through event_fd(). The
// helper, not the owner, waits while a program's start waits for the mount.
//
// Containment, from strongest to weakest; each is used as far as the machine allows:
//   private namespaces  root: the helper is process 1 of a PID namespace
//   cgroup              a cgroup v2 of the helper's own, killed by cgroup.kill
//   subreaper           anybody: descendants come back to the helper and are found through /proc
// In all three a report is sent only when every process of the spawn is gone.
//
// Death of the owner, by any signal, closes the helper's socket: it kills everything below it, runs
// the cleanup command, removes its cgroup and exits.
//
// Not thread safe. One program at a time per Supervisor; several Supervisors may live in a process.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/fd.h"
#include "common/result.h"
#include "harness/identity.h"
#include "harness/syscall_watch.h"

namespace tornfs::harness {

struct SandboxOptions {
  // New mount, PID, network and IPC namespaces for the programs. Needs root, and
  // EnterPrivateNamespaces() (harness/sandbox.h) before, or the owner's mount will not be seen.
  bool private_namespaces = false;
  // Use cgroup.kill where a writable cgroup v2 exists; without one, silently go on without.
  bool cgroup = true;
  // Keep the helper and its programs on this core; -1: anywhere.
  int pin_core = -1;
  // OutsideView::Enter(mount_point) of harness/sandbox.h, renewed after every program. Needs
  // private_namespaces.
  bool read_only_outside = false;
  std::string mount_point;
  // Programs cannot mount, unmount or move mounts, not even as root: without CAP_SYS_ADMIN. Needs
  // root.
  bool no_mounting = false;
  // System calls of the programs that the owner wants to hear of; see syscall_listener().
  SyscallWatch watch = SyscallWatch::kNone;
  // Run by the helper when the owner died without Stop(), after every program is gone; see
  // DetachCommand() in harness/stale_mount.h. An absolute path and its arguments; empty: nothing.
  std::vector<std::string> cleanup;
};

// Where a program's standard input comes from.
struct InputSource {
  enum class Kind : std::uint8_t {
    kNull,     // Empty.
    kInherit,  // What the owner's standard input was at Start().
    kFd,       // `fd`, duplicated by Spawn(); stays the caller's.
  };
  Kind kind = Kind::kNull;
  int fd = -1;
};

// Where an output stream of a program goes.
struct OutputTarget {
  enum class Kind : std::uint8_t {
    kCapture,  // Kept for TakeOutput().
    kInherit,  // What the owner's stream was at Start().
    kNull,     // Thrown away.
    kPath,     // `path`, opened by the program's start with O_WRONLY|O_APPEND; must exist and be
               // absolute; may lie on the owner's mount.
  };
  Kind kind = Kind::kCapture;
  std::string path;
};

struct SpawnRequest {
  // The program and its arguments. A name without "/" is searched for in PATH of `environment`
  // (not of the owner); a script without "#!" is given to /bin/sh, as execvp(3) does.
  std::vector<std::string> arguments;
  std::vector<std::string> environment;  // Exactly this: "NAME=value".
  std::string directory;                 // Absolute; may lie on the owner's mount.
  InputSource input;
  OutputTarget output;
  OutputTarget error;
  std::optional<Identity> identity;  // Run as this user; needs root. Absent: as the owner.
};

enum class Stream : std::uint8_t { kOutput, kError };

// How far the start of a program came when it failed.
enum class SpawnStage : std::uint8_t {
  kStarted,  // The program ran.
  kFork,     // No process could be made.
  kInput,    // A stream could not be opened or put in place.
  kOutput,
  kError,
  kIdentity,   // The user could not be changed.
  kDirectory,  // The working directory could not be entered.
  kExecute,    // The program could not be executed.
};
[[nodiscard]] const char* SpawnStageName(SpawnStage stage);

// How a spawn ended. By then no process of it exists.
struct ExitReport {
  std::uint64_t spawn = 0;  // The number Spawn() returned.
  // Of the program itself, as waitpid(2) gives it. When `stage` is not kStarted there was no
  // program, and this means nothing.
  int wait_status = 0;
  SpawnStage stage = SpawnStage::kStarted;
  int stage_errno = 0;  // Why the stage failed; 0 for kStarted.
  bool killed = false;  // Kill() was called before this report was taken.
  // Processes still alive when the program itself ended, killed by the helper. A process whose
  // parent ignores SIGCHLD may be missing from the count, never the parent.
  std::uint32_t stragglers = 0;
  // The program left files in its private /tmp or /dev/shm; they are gone (OutsideView).
  bool left_outside = false;
  std::chrono::nanoseconds runtime{0};  // From the start to the end of the program itself.

  // The status a shell would show: the exit code, 128 + signal, 127 not found, 126 not executable;
  // 125 when it failed before that.
  [[nodiscard]] int ShellStatus() const;
};

class Supervisor {
 public:
  // Starts the helper. Requires a single-threaded caller that does not yet serve a mount; the
  // helper keeps none of the caller's descriptors but 0, 1 and 2.
  // Errors: kMissing (private namespaces without permission), kIo.
  // Cost: about 1 ms, with private namespaces some ms.
  [[nodiscard]] static Result<Supervisor> Start(const SandboxOptions& options);

  Supervisor(Supervisor&&) noexcept;
  Supervisor& operator=(Supervisor&&) noexcept;
  // Stop() if nothing runs; else kills and leaves without waiting.
  ~Supervisor();

  // Hands a request over and returns at once; the number is 1, 2, ... Output captured earlier and
  // not taken is gone.
  // Programs start with all signals at their default, nothing blocked, no descriptor but 0, 1 and
  // 2, and no core dumps.
  // Requires !running(), a non-empty argument vector and absolute paths.
  // Errors: kInvalid (request too large), kIo (the helper is gone).
  [[nodiscard]] Result<std::uint64_t> Spawn(const SpawnRequest& request);

  // Between a successful Spawn() and the Poll() that returned its report.
  [[nodiscard]] bool running() const;

  // Readable when Poll() has something to say. Owned by this object.
  [[nodiscard]] int event_fd() const;

  // The report of the running spawn if it has ended. Never waits.
  // Errors: kIo when the helper is gone; running() is false then.
  [[nodiscard]] Result<std::optional<ExitReport>> Poll();

  // Waits for the report. For callers that do not serve the mount the program uses.
  // Requires running().
  [[nodiscard]] Result<ExitReport> Wait();

  // What the last spawn wrote to a captured stream, at most its first `limit` bytes; the second
  // call returns nothing. Call it when the report is there. Errors: kIo.
  [[nodiscard]] Result<std::string> TakeOutput(Stream stream, std::size_t limit = 64U << 20);

  // Sends SIGKILL to every process of the running spawn. On return all signals are sent: none of
  // them comes back from a system call to its own code, so a reply given afterwards is never seen.
  // The report follows as usual. Nothing happens when nothing runs.
  // Never waits for the mount, and works while the start of the program waits for it.
  // Cost: some us with a cgroup, 0.1 ms with private namespaces, else some ms: a look through
  // /proc. Errors: kIo when the helper is gone.
  [[nodiscard]] Status Kill();

  // Ends the helper and waits until it is gone. Requires !running(). Later calls do nothing.
  void Stop();

  // Where the watched system calls arrive (harness/syscall_watch.h); -1 when none are, because none
  // were asked for or the machine does not allow it. The owner must serve it while a program runs.
  [[nodiscard]] int syscall_listener() const;

  // The helper's process id as the owner sees it, and whether cgroup.kill is in use: for `doctor`
  // and for tests.
  [[nodiscard]] pid_t helper_pid() const;
  [[nodiscard]] bool uses_cgroup() const;

 private:
  struct State;
  explicit Supervisor(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace tornfs::harness
