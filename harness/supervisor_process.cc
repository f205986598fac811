#include "harness/supervisor_process.h"

#include <linux/capability.h>
#include <signal.h>
#include <spawn.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#include "common/log.h"
#include "harness/cpu.h"
#include "harness/descendants.h"
#include "harness/fd_passing.h"
#include "harness/process_ids.h"
#include "harness/program_start.h"
#include "harness/sandbox.h"

namespace tornfs::harness {
namespace {

// Closes every descriptor above 2 but `kept`.
void CloseOthers(std::vector<int> kept) {
  std::sort(kept.begin(), kept.end());
  unsigned from = 3;
  for (const int fd : kept) {
    const auto keep = static_cast<unsigned>(fd);
    if (fd < 3) continue;
    if (keep > from) (void)::close_range(from, keep - 1, 0);
    from = keep + 1;
  }
  (void)::close_range(from, ~0U, 0);
}

void CloseOthers(const HelperEnds& ends) {
  std::vector<int> kept{ends.requests.get(), ends.control.get(), ends.descriptors.null,
                        ends.descriptors.output, ends.descriptors.error};
  if (ends.cgroup != nullptr) {
    kept.insert(kept.end(), {ends.cgroup->parent_fd(), ends.cgroup->group_fd()});
  }
  CloseOthers(std::move(kept));
}

// The owner's handlers make no sense here, and a key typed at the terminal is for the programs and
// the owner.
void SetSignals() {
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) != 0) continue;
    switch (signal) {
      case SIGSEGV:
      case SIGBUS:
      case SIGFPE:
      case SIGILL:
      case SIGABRT: continue;  // A crash of the helper is reported the way the build reports it.
      default: break;
    }
    if (action.sa_handler != SIG_DFL) (void)::signal(signal, SIG_DFL);
  }
  for (const int signal : kIgnoredSignals) (void)::signal(signal, SIG_IGN);
}

// What is inheritable would survive the execve(2) of a program without it in its bounding set.
Status KeepNothingInheritable() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  if (::syscall(SYS_capget, &header, data) != 0) return IoError(errno, "capget");
  for (auto& half : data) half.inheritable = 0;
  if (::syscall(SYS_capset, &header, data) != 0) return IoError(errno, "capset");
  (void)::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  return {};
}

// Programs find themselves at the same addresses each time, as those end up in files: LMDB's lock
// file has that of a thread. Where that is forbidden, as in some containers, they do not.
void FixAddresses() {
  constexpr unsigned long kAsk = 0xffffffff;
  const int now = ::personality(kAsk);
  if (now >= 0) (void)::personality(static_cast<unsigned long>(now) | ADDR_NO_RANDOMIZE);
}

Status Prepare(const SandboxOptions& options, OutsideView* outside) {
  (void)::prctl(PR_SET_NAME, "tornfs-helper");
  SetSignals();
  FixAddresses();
  const rlimit no_core{0, 0};
  (void)::setrlimit(RLIMIT_CORE, &no_core);
  if (options.pin_core >= 0) {
    if (auto pinned = PinToCore(options.pin_core); !pinned) return pinned;
  }
  if (options.private_namespaces) {
    if (auto entered = EnterHelperNamespaces(); !entered) return entered;
    if (options.read_only_outside) {
      if (auto done = outside->Enter(options.mount_point); !done) return done;
    }
  } else if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) {
    return IoError(errno, "become a subreaper");
  }
  if (options.no_mounting) {
    if (auto done = KeepNothingInheritable(); !done) return done;
  }
  // Not to keep a directory or a mount busy.
  if (::chdir("/") != 0) return IoError(errno, "/");
  return {};
}

ReadyMessage Describe(const Status& status) {
  ReadyMessage message;
  message.ready = status.has_value();
  if (!status) {
    message.code = status.error().code;
    message.sys_errno = status.error().sys_errno;
    std::snprintf(message.context, sizeof message.context, "%s", status.error().context.c_str());
  }
  return message;
}

class Helper {
 public:
  Helper(HelperEnds ends, const SandboxOptions& options, const ProgramStarter& starter,
         OutsideView& outside)
      : ends_(std::move(ends)), options_(options), starter_(starter), outside_(outside) {
    if (options.private_namespaces) ids_ = ProcessIds::Open();
  }

  // The first thread, while the second is there: a filter holds for the thread that installs it and
  // its children, and the other must be able to clean up when nobody answers any more.
  void ReportReady() const {
    // Where the machine does not allow it, the owner finds no listener.
    const auto listener = WatchSyscalls(options_.watch);
    ReadyMessage ready = Describe({});
    const int fd = listener ? listener->get() : -1;
    (void)SendWithFd(ends_.requests.get(), {&ready, sizeof ready}, fd);
  }

  // The first thread.
  void ServeRequests() {
    for (;;) {
      Fd received;
      if (!Receive(&received)) return;
      const ExitReport report = RunOne(received.get());
      received.Reset();
      if (::send(ends_.requests.get(), &report, sizeof report, MSG_NOSIGNAL) < 0) return;
    }
  }

  // The second thread. Ends the process.
  [[noreturn]] void ServeControl() {
    char message = 0;
    while (ReadControl(&message) && message == kKillMessage) {
      KillPrograms();
      (void)::send(ends_.control.get(), &message, 1, MSG_NOSIGNAL);
    }
    EndPrograms();
    if (message != kStopMessage) RunCleanup();
    if (ends_.cgroup != nullptr) ends_.cgroup->Remove();
    ::_exit(0);
  }

 private:
  bool ReadControl(char* message) const {
    ssize_t n = 0;
    *message = 0;
    do {
      n = ::recv(ends_.control.get(), message, 1, 0);
    } while (n < 0 && errno == EINTR);
    return n == 1;
  }

  bool Receive(Fd* received) const {
    char byte = 0;
    const ssize_t n = ReceiveWithFd(ends_.requests.get(), {&byte, 1}, received);
    return n == 1 && byte == kSpawnMessage;
  }

  // Sends SIGKILL to every process below this one.
  void KillPrograms() const {
    if (options_.private_namespaces) {
      (void)::kill(-1, SIGKILL);  // Process 1 and its threads are exempt.
      return;
    }
    KillDescendants();
  }

  static bool HasChildren() {
    siginfo_t unused;
    return ::waitid(P_ALL, 0, &unused, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0;
  }

  // Kills and reaps until nothing is left, from the second thread.
  void EndPrograms() {
    ends_.shared->killed_spawn = UINT64_MAX;
    if (HasChildren()) KillPrograms();
    while (::waitpid(-1, nullptr, __WALL) >= 0 || errno == EINTR) {
    }
  }

  ExitReport RunOne(int received_fd) {
    ExitReport report;
    report.spawn = ends_.shared->plan.spawn;
    if (!RenewCgroup(report.spawn)) {
      report.stage = SpawnStage::kFork;
      report.stage_errno = EIO;
      return report;
    }
    ids_.Restart();
    const auto begin = std::chrono::steady_clock::now();
    const pid_t pid = starter_.Start(ends_.shared, received_fd);
    report.wait_status = pid > 0 ? WaitForProgram(pid) : 0;
    report.runtime = std::chrono::steady_clock::now() - begin;
    report.stragglers = EndStragglers();
    if (auto renewed = outside_.Renew()) {
      report.left_outside = *renewed;
    } else {
      LogWarning("what a program left in /tmp stays there: " + renewed.error().Message());
    }
    report.stage = ends_.shared->stage;
    report.stage_errno = ends_.shared->stage_errno;
    return report;
  }

  // A leaf that was killed is of no further use; see kill_cgroup.h.
  bool RenewCgroup(std::uint64_t spawn) {
    const bool spent = ends_.shared->killed_spawn >= leaf_since_;
    if (ends_.cgroup == nullptr || !spent) return true;
    leaf_since_ = spawn;
    return ends_.cgroup->NewLeaf().has_value();
  }

  // Reaps whatever ends until the program itself does.
  static int WaitForProgram(pid_t program) {
    for (;;) {
      int status = 0;
      const pid_t pid = ::waitpid(-1, &status, __WALL);
      if (pid == program) return status;
      // The other thread reaped it, which it does only to end this process.
      if (pid < 0 && errno == ECHILD) return SIGKILL;
    }
  }

  // Returns how many processes outlived the program.
  std::uint32_t EndStragglers() {
    pid_t pid = 0;
    do {  // Those that ended in time but were not reaped yet do not count.
      pid = ::waitpid(-1, nullptr, WNOHANG | __WALL);
    } while (pid > 0);
    if (pid < 0) return 0;
    std::uint32_t count = 0;
    KillPrograms();
    for (;;) {
      int status = 0;
      pid = ::waitpid(-1, &status, __WALL);
      if (pid < 0 && errno == ECHILD) return count;
      if (pid > 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) ++count;
    }
  }

  void RunCleanup() {
    if (options_.cleanup.empty()) return;
    std::vector<std::string> words = options_.cleanup;
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_t pid = -1;
    if (::posix_spawn(&pid, arguments[0], nullptr, nullptr, arguments.data(), environ) != 0) return;
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

  HelperEnds ends_;
  const SandboxOptions& options_;
  const ProgramStarter& starter_;
  OutsideView& outside_;
  ProcessIds ids_;
  std::uint64_t leaf_since_ = 1;  // The first spawn in the cgroup's present leaf.
};

}  // namespace

void RunHelper(HelperEnds ends, const SandboxOptions& options) {
  CloseOthers(ends);
  OutsideView outside;
  Status prepared = Prepare(options, &outside);
  if (prepared && ends.cgroup != nullptr) prepared = ends.cgroup->NewLeaf();
  auto starter = ProgramStarter::Create(prepared ? ends.cgroup : nullptr);
  if (prepared && !starter) prepared = tl::make_unexpected(starter.error());
  if (!prepared) {
    const ReadyMessage failed = Describe(prepared);
    (void)::send(ends.requests.get(), &failed, sizeof failed, MSG_NOSIGNAL);
    ::_exit(1);
  }
  Helper helper(std::move(ends), options, *starter, outside);
  std::thread control([&helper] { helper.ServeControl(); });
  helper.ReportReady();
  helper.ServeRequests();
  control.join();  // Never returns: the other thread ends the process.
  ::_exit(1);
}

}  // namespace tornfs::harness
