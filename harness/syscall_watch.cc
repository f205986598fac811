#include "harness/syscall_watch.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <vector>

#include "common/check.h"

namespace tornfs::harness {
namespace {

// Newer than some headers. Signals that do not kill leave a caught call alone (Linux 5.19).
constexpr unsigned kFlagWaitKillable = 1U << 5;

#if defined(__x86_64__)
constexpr std::uint32_t kNativeArch = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kNativeArch = AUDIT_ARCH_AARCH64;
#endif

constexpr int kNone = -1;

// What of a system call is looked at; arguments are numbered from 0.
struct Watched {
  std::uint32_t number;
  CaughtKind kind;
  int fd = kNone;     // The argument that is a descriptor.
  int path = kNone;   // The argument that is a path.
  int flags = kNone;  // The argument with flags of open(2): only calls that write are caught.
};

constexpr std::array kSyncs{
    Watched{SYS_sync, CaughtKind::kSync},
    Watched{SYS_syncfs, CaughtKind::kSyncfs, 0},
};
constexpr std::array kWrites {
  Watched{SYS_openat, CaughtKind::kOpen, 0, 1, 2}, Watched{SYS_mkdirat, CaughtKind::kCreate, 0, 1},
      Watched{SYS_mknodat, CaughtKind::kCreate, 0, 1},
      Watched{SYS_symlinkat, CaughtKind::kCreate, 1, 2},
      Watched{SYS_linkat, CaughtKind::kCreate, 2, 3},
      Watched{SYS_unlinkat, CaughtKind::kChange, 0, 1},
      Watched{SYS_renameat, CaughtKind::kChange, 0, 1},
      Watched{SYS_renameat2, CaughtKind::kChange, 0, 1},
      Watched{SYS_truncate, CaughtKind::kChange, kNone, 0},
      Watched{SYS_fchmodat, CaughtKind::kChange, 0, 1},
      Watched{SYS_fchownat, CaughtKind::kChange, 0, 1},
      Watched{SYS_utimensat, CaughtKind::kChange, 0, 1},
#if defined(__x86_64__)
      Watched{SYS_open, CaughtKind::kOpen, kNone, 0, 1},
      Watched{SYS_creat, CaughtKind::kOpen, kNone, 0},
      Watched{SYS_mkdir, CaughtKind::kCreate, kNone, 0},
      Watched{SYS_mknod, CaughtKind::kCreate, kNone, 0},
      Watched{SYS_symlink, CaughtKind::kCreate, kNone, 1},
      Watched{SYS_link, CaughtKind::kCreate, kNone, 1},
      Watched{SYS_unlink, CaughtKind::kChange, kNone, 0},
      Watched{SYS_rmdir, CaughtKind::kChange, kNone, 0},
      Watched{SYS_rename, CaughtKind::kChange, kNone, 0},
      Watched{SYS_chmod, CaughtKind::kChange, kNone, 0},
      Watched{SYS_chown, CaughtKind::kChange, kNone, 0},
      Watched{SYS_lchown, CaughtKind::kChange, kNone, 0},
      Watched{SYS_utimes, CaughtKind::kChange, kNone, 0},
#endif
};
#if defined(__x86_64__)
// Syncs of programs for the older instruction set: the same kernel runs both.
constexpr std::array kOlderSyncs{
    Watched{36, CaughtKind::kSync},
    Watched{344, CaughtKind::kSyncfs, 0},
};
#endif

constexpr std::uint32_t kWritingFlags = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC;

class FilterProgram {
 public:
  explicit FilterProgram(SyscallWatch watch) {
    Statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch));
    Calls native;
    native.insert(native.end(), kSyncs.begin(), kSyncs.end());
    if (watch == SyscallWatch::kSyncsAndWrites) {
      native.insert(native.end(), kWrites.begin(), kWrites.end());
    }
    Section(kNativeArch, native);
#if defined(__x86_64__)
    Section(AUDIT_ARCH_I386, {kOlderSyncs.begin(), kOlderSyncs.end()});
#endif
    Statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  }

  [[nodiscard]] std::vector<sock_filter>& code() { return code_; }

 private:
  using Calls = std::vector<Watched>;

  void Statement(unsigned code, std::uint32_t value) {
    code_.push_back(BPF_STMT(static_cast<unsigned short>(code), value));
  }
  // Goes on when equal (or when a bit is set), else skips `skipped` instructions.
  void Unless(unsigned test, std::uint32_t value, std::size_t skipped) {
    code_.push_back(BPF_JUMP(static_cast<unsigned short>(BPF_JMP | test | BPF_K), value, 0,
                             static_cast<unsigned char>(skipped)));
  }

  // Expects the architecture in the accumulator, and leaves it there for the next one.
  void Section(std::uint32_t arch, const Calls& calls) {
    const std::size_t jump = code_.size();
    Unless(BPF_JEQ, arch, 0);
    Statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
    for (const Watched& call : calls) {
      Unless(BPF_JEQ, call.number, call.flags == kNone ? 1 : 4);
      if (call.flags != kNone) {
        const auto argument = static_cast<std::size_t>(call.flags) * sizeof(std::uint64_t);
        Statement(BPF_LD | BPF_W | BPF_ABS,
                  static_cast<std::uint32_t>(offsetof(seccomp_data, args) + argument));
        Unless(BPF_JSET, kWritingFlags, 1);
      }
      Statement(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
      if (call.flags != kNone) Statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    Statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const std::size_t length = code_.size() - jump - 1;
    CHECK(length <= UINT8_MAX);
    code_[jump].jf = static_cast<unsigned char>(length);
  }

  std::vector<sock_filter> code_;
};

const Watched* FindCall(const seccomp_data& data) {
  const auto number = static_cast<std::uint32_t>(data.nr);
  const auto find = [number](const auto& calls) {
    const auto* found = std::ranges::find(calls, number, &Watched::number);
    return found == calls.end() ? nullptr : found;
  };
#if defined(__x86_64__)
  if (data.arch == AUDIT_ARCH_I386) return find(kOlderSyncs);
#endif
  const Watched* found = find(kSyncs);
  return found != nullptr ? found : find(kWrites);
}

long Seccomp(unsigned operation, unsigned long flags, void* arguments) {
  return ::syscall(SYS_seccomp, operation, flags, arguments);
}

void Send(int listener, const seccomp_notif_resp& response) {
  // Fails when the thread was killed meanwhile; then nobody waits for the answer.
  (void)::ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

}  // namespace

Result<Fd> WatchSyscalls(SyscallWatch watch) {
  if (watch == SyscallWatch::kNone) return Fail(ErrorCode::kMissing, "nothing is watched");
  FilterProgram program(watch);
  sock_fprog filter{static_cast<unsigned short>(program.code().size()), program.code().data()};
  long fd = -1;
  for (const unsigned long flags :
       {SECCOMP_FILTER_FLAG_NEW_LISTENER | kFlagWaitKillable, SECCOMP_FILTER_FLAG_NEW_LISTENER}) {
    fd = Seccomp(SECCOMP_SET_MODE_FILTER, flags, &filter);
    if (fd >= 0) return Fd(static_cast<int>(fd));
  }
  return tl::make_unexpected(Error{ErrorCode::kMissing, errno, "watch system calls"});
}

bool CanWatchSyscalls() {
  std::uint32_t action = SECCOMP_RET_USER_NOTIF;
  return ::geteuid() == 0 && Seccomp(SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

std::optional<CaughtSyscall> TakeSyscall(int listener) {
  seccomp_notif notice{};
  if (::ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &notice) != 0) return std::nullopt;
  CaughtSyscall caught;
  caught.id = notice.id;
  caught.thread = static_cast<pid_t>(notice.pid);
  const Watched* call = FindCall(notice.data);
  CHECK(call != nullptr);
  const auto& arguments = notice.data.args;
  caught.kind = call->kind;
  caught.fd = call->fd == kNone ? AT_FDCWD : static_cast<int>(arguments[call->fd]);
  if (call->path != kNone) caught.path = arguments[call->path];
  if (call->flags != kNone) {
    caught.flags = arguments[call->flags];
  } else if (call->kind == CaughtKind::kOpen) {
    caught.flags = O_WRONLY | O_CREAT | O_TRUNC;  // creat(2).
  }
  return caught;
}

void AnswerSyscall(int listener, const CaughtSyscall& caught, int error) {
  seccomp_notif_resp response{};
  response.id = caught.id;
  response.error = -error;
  Send(listener, response);
}

void LetSyscallGoOn(int listener, const CaughtSyscall& caught) {
  seccomp_notif_resp response{};
  response.id = caught.id;
  response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  Send(listener, response);
}

}  // namespace tornfs::harness
