#include "harness/program_start.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

// Sanitizers keep state per thread and per stack, which the child would leave behind changed when
// it executes.
#if defined(__clang__)
#define TORNFS_BARE __attribute__((no_sanitize("address", "thread", "undefined")))
#else
#define TORNFS_BARE __attribute__((no_sanitize("address,thread,undefined")))
#endif

namespace tornfs::harness {
namespace {

constexpr std::size_t kStackBytes = 64 * 1024;

static_assert(kIgnoredSignals[0] == SIGHUP && kIgnoredSignals[1] == SIGINT &&
              kIgnoredSignals[2] == SIGQUIT && kIgnoredSignals[3] == SIGPIPE &&
              kIgnoredSignals[4] == SIGTERM && kIgnoredSignals[5] == SIGTSTP &&
              kIgnoredSignals[6] == SIGTTIN && kIgnoredSignals[7] == SIGTTOU);

struct ChildArgument {
  SharedMemory* shared;
  int received_fd;
  int procs_fd;  // To be joined by the child itself, or -1.
};

[[noreturn]] TORNFS_BARE void FailStage(SharedMemory* shared, SpawnStage stage) {
  shared->stage_errno = errno;
  shared->stage = stage;
  for (;;) ::syscall(SYS_exit_group, 127);
}

TORNFS_BARE void ResetSignals() {
  // The kernel's sigaction begins with the handler; all zero bytes is the default action.
  unsigned char action[64] = {};
  for (const int signal : kIgnoredSignals) {
    ::syscall(SYS_rt_sigaction, signal, action, nullptr, 8);
  }
  std::uint64_t nothing = 0;
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &nothing, nullptr, 8);
}

TORNFS_BARE bool PlaceStream(const StreamPlan& stream, int target, int received_fd) {
  long source = stream.fd;
  switch (stream.action) {
    case StreamPlan::Action::kKeep: return true;
    case StreamPlan::Action::kDuplicate: break;
    case StreamPlan::Action::kReceived: source = received_fd; break;
    case StreamPlan::Action::kOpen:
      source = ::syscall(SYS_openat, AT_FDCWD, stream.path,
                         O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC, 0);
      break;
  }
  return source >= 0 && ::syscall(SYS_dup3, source, target, 0) >= 0;
}

// Out of the bounding set, so that no execve(2) gives it back; the helper took it out of the
// inheritable set already.
TORNFS_BARE bool DropSysAdmin() {
  return ::syscall(SYS_prctl, PR_CAPBSET_DROP, CAP_SYS_ADMIN, 0, 0, 0) == 0;
}

TORNFS_BARE bool ChangeIdentity(const StartPlan& plan) {
  return ::syscall(SYS_setgroups, plan.group_count, plan.groups) == 0 &&
         ::syscall(SYS_setresgid, plan.gid, plan.gid, plan.gid) == 0 &&
         ::syscall(SYS_setresuid, plan.uid, plan.uid, plan.uid) == 0;
}

// As execvp(3): goes on with the next candidate when this one is not there, remembers a candidate
// that may not be executed, and gives scripts without "#!" to the shell.
TORNFS_BARE void Execute(const StartPlan& plan) {
  int refusal = 0;
  for (const char* const* candidate = plan.candidates; *candidate != nullptr; ++candidate) {
    ::syscall(SYS_execve, *candidate, plan.arguments, plan.environment);
    if (errno == ENOEXEC) {
      plan.shell_arguments[1] = *candidate;
      ::syscall(SYS_execve, "/bin/sh", plan.shell_arguments, plan.environment);
      return;
    }
    if (errno == EACCES) {
      refusal = EACCES;
    } else if (errno != ENOENT && errno != ENOTDIR && errno != ENODEV && errno != ESTALE) {
      return;
    }
  }
  if (refusal != 0) errno = refusal;
}

TORNFS_BARE int RunChild(void* raw) {
  const ChildArgument& argument = *static_cast<const ChildArgument*>(raw);
  SharedMemory* shared = argument.shared;
  const StartPlan& plan = shared->plan;
  if (argument.procs_fd >= 0 && ::syscall(SYS_write, argument.procs_fd, "0", 1) != 1) {
    FailStage(shared, SpawnStage::kFork);
  }
  // A kill before this process could be found by one is carried out here.
  if (shared->killed_spawn.load() >= plan.spawn) {
    ::syscall(SYS_kill, ::syscall(SYS_getpid), SIGKILL);
  }
  ResetSignals();
  constexpr SpawnStage kStreamStages[] = {SpawnStage::kInput, SpawnStage::kOutput,
                                          SpawnStage::kError};
  for (int i = 0; i < 3; ++i) {
    if (!PlaceStream(plan.streams[i], i, argument.received_fd)) FailStage(shared, kStreamStages[i]);
  }
  if (shared->drop_sys_admin && !DropSysAdmin()) FailStage(shared, SpawnStage::kIdentity);
  if (plan.change_identity && !ChangeIdentity(plan)) FailStage(shared, SpawnStage::kIdentity);
  if (::syscall(SYS_chdir, plan.directory) != 0) FailStage(shared, SpawnStage::kDirectory);
  Execute(plan);
  FailStage(shared, SpawnStage::kExecute);
}

TORNFS_BARE int ExitAtOnce(void*) {
  for (;;) ::syscall(SYS_exit_group, 0);
}

// Like clone(2) with a function, but born in a cgroup. Returns the process id or -errno.
#if defined(__x86_64__)
TORNFS_BARE long CloneIntoCgroup(char* stack, int cgroup_fd, int (*run)(void*), void* argument) {
  clone_args args{};
  args.flags = CLONE_VM | CLONE_VFORK | CLONE_INTO_CGROUP;
  args.exit_signal = SIGCHLD;
  args.stack = reinterpret_cast<std::uintptr_t>(stack);
  args.stack_size = kStackBytes;
  args.cgroup = static_cast<std::uint64_t>(cgroup_fd);
  // The child finds its registers as they were, but the new stack: it can call, never return.
  struct {
    int (*run)(void*);
    void* argument;
  } const call{run, argument};
  long result = SYS_clone3;
  asm volatile(
      "syscall\n\t"
      "test %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "xor %%ebp, %%ebp\n\t"
      "mov 8(%%rbx), %%rdi\n\t"
      "call *(%%rbx)\n\t"
      "ud2\n"
      "1:"
      : "+a"(result)
      : "b"(&call), "D"(&args), "S"(sizeof args)
      : "rcx", "r11", "memory", "cc");
  return result;
}
#else
long CloneIntoCgroup(char*, int, int (*)(void*), void*) { return -ENOSYS; }
#endif

}  // namespace

Result<ProgramStarter> ProgramStarter::Create(const KillCgroup* cgroup) {
  void* stack = ::mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) return IoError(errno, "memory for a stack");
  ProgramStarter starter(static_cast<char*>(stack), cgroup);
  starter.born_in_cgroup_ = cgroup != nullptr && starter.TryBirthInCgroup();
  return starter;
}

bool ProgramStarter::TryBirthInCgroup() const {
  const long pid = CloneIntoCgroup(stack_, cgroup_->leaf_fd(), ExitAtOnce, nullptr);
  if (pid <= 0) return false;  // A seccomp filter of a container, for one.
  int status = -1;
  while (::waitpid(static_cast<pid_t>(pid), &status, 0) < 0 && errno == EINTR) {
  }
  return status == 0;  // Otherwise our own cgroup was once killed; see kill_cgroup.h.
}

pid_t ProgramStarter::Start(SharedMemory* shared, int received_fd) const {
  ChildArgument argument{shared, received_fd, -1};
  long pid = -1;
  if (born_in_cgroup_) {
    pid = CloneIntoCgroup(stack_, cgroup_->leaf_fd(), RunChild, &argument);
    if (pid < 0) errno = static_cast<int>(-pid);
  } else {
    if (cgroup_ != nullptr) argument.procs_fd = cgroup_->leaf_procs_fd();
    pid = ::clone(RunChild, stack_ + kStackBytes, CLONE_VM | CLONE_VFORK | SIGCHLD, &argument);
  }
  if (pid >= 0) return static_cast<pid_t>(pid);
  shared->stage_errno = errno;
  shared->stage = SpawnStage::kFork;
  return -1;
}

}  // namespace tornfs::harness
