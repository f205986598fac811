#include "fusefs/fuse/session.h"

#include <fcntl.h>
#include <linux/fuse.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>

#include "common/check.h"
#include "common/log.h"
#include "fusefs/fuse/loop_device.h"
#include "fusefs/fuse/ops.h"

namespace tornfs {

namespace {

// Newer than the system's linux/fuse.h.
constexpr std::uint32_t kOpcodeStatx = 52;
constexpr std::uint32_t kOpcodeCopyFileRange64 = 53;
constexpr int kNotifyEpoch = 8;

fuse_lowlevel_ops Operations() {
  fuse_lowlevel_ops ops{};
  ops.init = OpInit;
  ops.lookup = OpLookup;
  ops.forget = OpForget;
  ops.forget_multi = OpForgetMulti;
  ops.getattr = OpGetattr;
  ops.setattr = OpSetattr;
  ops.access = OpAccess;
  ops.create = OpCreate;
  ops.mknod = OpMknod;
  ops.mkdir = OpMkdir;
  ops.symlink = OpSymlink;
  ops.link = OpLink;
  ops.unlink = OpUnlink;
  ops.rmdir = OpRmdir;
  ops.rename = OpRename;
  ops.readlink = OpReadlink;
  ops.open = OpOpen;
  ops.read = OpRead;
  ops.write = OpWrite;
  ops.flush = OpFlush;
  ops.release = OpRelease;
  ops.fsync = OpFsync;
  ops.fallocate = OpFallocate;
  ops.copy_file_range = OpCopyFileRange;
  ops.lseek = OpLseek;
  ops.readdir = OpReaddir;
  ops.readdirplus = OpReaddirplus;
  ops.fsyncdir = OpFsyncdir;
  ops.statfs = OpStatfs;
  ops.setxattr = OpSetxattr;
  ops.getxattr = OpGetxattr;
  ops.listxattr = OpListxattr;
  ops.removexattr = OpRemovexattr;
  ops.ioctl = OpIoctl;
  return ops;
}

void LogFuse(fuse_log_level level, const char* format, va_list arguments) {
  std::array<char, 512> text{};
  std::vsnprintf(text.data(), text.size(), format, arguments);
  std::string line(text.data());
  while (line.ends_with('\n')) line.pop_back();
  Log(level <= FUSE_LOG_ERR ? LogLevel::kWarning : LogLevel::kDebug, line);
}

// The kernel checks mode bits, not this process.
bool KernelChecks(const MountOptions& options) {
  return options.check_permissions || options.allow_other || geteuid() != 0;
}

ssize_t ReadRequest(int fd, void* buffer, std::size_t size, void* /*userdata*/) {
  return read(fd, buffer, size);
}

// Adds to the reply to INIT what libfuse does not know of.
ssize_t WriteReply(int fd, iovec* pieces, int count, void* userdata) {
  auto& context = *static_cast<MountContext*>(userdata);
  if (std::exchange(context.greeting_is_due, false) && count == 2) {
    constexpr std::size_t kFlags = offsetof(fuse_init_out, flags);
    std::uint32_t flags = 0;
    CHECK(pieces[1].iov_len >= kFlags + sizeof flags);
    char* at = static_cast<char*>(pieces[1].iov_base) + kFlags;
    std::memcpy(&flags, at, sizeof flags);
    flags |= context.greeting;
    std::memcpy(at, &flags, sizeof flags);
  }
  return writev(fd, pieces, count);
}

fuse_session* NewSession(MountContext& context, const std::string& device) {
  const MountOptions& options = context.options;
  fuse_args arguments = FUSE_ARGS_INIT(0, nullptr);
  const std::string source = device.empty() ? "-ofsname=tornfs,subtype=tornfs"
                                            : "-oblkdev,subtype=tornfs,fsname=" + device;
  bool added = fuse_opt_add_arg(&arguments, "tornfs") == 0 &&
               fuse_opt_add_arg(&arguments, source.c_str()) == 0;
  if (options.allow_other) added = added && fuse_opt_add_arg(&arguments, "-oallow_other") == 0;
  if (KernelChecks(options)) {
    added = added && fuse_opt_add_arg(&arguments, "-odefault_permissions") == 0;
  }
  // Reads do not come here when their pages are cached, so there are no access times to keep.
  added = added && fuse_opt_add_arg(&arguments, "-onoatime") == 0;
  // Device nodes and set-id programs work where only root can make them.
  if (geteuid() == 0) added = added && fuse_opt_add_arg(&arguments, "-odev,suid") == 0;
  static const fuse_lowlevel_ops kOperations = Operations();
  fuse_session* session =
      added ? fuse_session_new(&arguments, &kOperations, sizeof kOperations, &context) : nullptr;
  fuse_opt_free_args(&arguments);
  return session;
}

}  // namespace

void OpInit(void* userdata, fuse_conn_info* connection) {
  auto& context = *static_cast<MountContext*>(userdata);
  connection->want &= ~static_cast<unsigned>(
      FUSE_CAP_AUTO_INVAL_DATA | FUSE_CAP_WRITEBACK_CACHE | FUSE_CAP_POSIX_LOCKS |
      FUSE_CAP_FLOCK_LOCKS | FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE |
      FUSE_CAP_HANDLE_KILLPRIV | FUSE_CAP_READDIRPLUS | FUSE_CAP_READDIRPLUS_AUTO);
  unsigned wanted = FUSE_CAP_EXPLICIT_INVAL_DATA | FUSE_CAP_ATOMIC_O_TRUNC |
                    FUSE_CAP_CACHE_SYMLINKS | FUSE_CAP_ASYNC_READ | FUSE_CAP_DONT_MASK |
                    FUSE_CAP_EXPORT_SUPPORT;
  // The kernel then checks permissions by ACLs too, for which it must be the one who checks.
  if (KernelChecks(context.options)) wanted |= FUSE_CAP_POSIX_ACL;
  if (context.options.readdirplus) wanted |= FUSE_CAP_READDIRPLUS | FUSE_CAP_READDIRPLUS_AUTO;
  connection->want |= wanted & connection->capable;
  connection->max_write = 1U << 20;
  connection->max_readahead = context.options.max_readahead;
  connection->time_gran = 1;
  context.initialized = true;
}

Result<std::unique_ptr<Session>> Session::Mount(MountContext& context) {
  const std::string& mount_point = context.options.mount_point;
  if (access("/dev/fuse", F_OK) != 0) {
    return tl::make_unexpected(Error{ErrorCode::kMissing, errno, "/dev/fuse"});
  }
  fuse_set_log_func(LogFuse);
  LoopDevice device;
  if (context.options.see_syncs) {
    if (auto made = NewLoopDevice()) device = std::move(*made);
  }
  context.sees_syncs = device.fd.valid();
  fuse_session* raw = NewSession(context, device.path);
  if (raw == nullptr) return Fail(ErrorCode::kIo, "fuse_session_new");
  std::unique_ptr<Session> session(new Session(context, raw));
  if (fuse_session_mount(raw, mount_point.c_str()) != 0) {
    // libfuse has logged why; errno does not survive its cleaning up.
    return Fail(ErrorCode::kMissing, "cannot mount on " + mount_point);
  }
  session->mounted_ = true;
  fuse_custom_io io{};
  io.read = ReadRequest;
  io.writev = WriteReply;
  if (fuse_session_custom_io(raw, &io, session->fd()) != 0) {
    return Fail(ErrorCode::kIo, "fuse_session_custom_io");
  }
  const int flags = fcntl(session->fd(), F_GETFL);
  if (flags < 0 || fcntl(session->fd(), F_SETFL, flags | O_NONBLOCK) != 0) {
    return IoError(errno, "fcntl /dev/fuse");
  }
  return session;
}

Session::Session(MountContext& context, fuse_session* session)
    : context_(context), session_(session) {}

Session::~Session() {
  Detach();
  fuse_session_destroy(session_);
  for (const fuse_buf& buffer : buffers_) std::free(buffer.mem);
}

int Session::fd() const { return fuse_session_fd(session_); }

bool Session::ended() const { return fuse_session_exited(session_) != 0; }

bool Session::ServeOne() {
  if (depth_ == buffers_.size()) buffers_.emplace_back();
  fuse_buf buffer = buffers_[depth_];
  const int received = fuse_session_receive_buf(session_, &buffer);
  buffers_[depth_].mem = buffer.mem;
  if (received <= 0) return false;
  ++context_.counters.requests;
  // Served meanwhile, from within one that was put aside.
  const auto resumed = std::exchange(context_.resumed, std::nullopt);
  ++depth_;
  Process(buffer, nullptr);
  --depth_;
  context_.resumed = resumed;
  return true;
}

void Session::Process(fuse_buf& buffer, const RequestExtras* extras) {
  if (!AnswerByHeader(buffer)) {
    context_.request = extras != nullptr ? *extras : TakeExtras(buffer, context_.greeting);
    fuse_session_process_buf(session_, &buffer);
  }
  if (!context_.postponed) return;
  PutAsideRequest put{std::chrono::steady_clock::now() + context_.postponed->delay,
                      {},
                      context_.request,
                      *context_.postponed};
  put.fault.delay = std::chrono::milliseconds(0);
  context_.postponed.reset();
  const char* bytes = static_cast<const char*>(buffer.mem);
  put.request.assign(bytes, bytes + buffer.size);
  put_aside_.push_back(std::move(put));
}

std::optional<std::chrono::steady_clock::time_point> Session::NextDue() const {
  std::optional<std::chrono::steady_clock::time_point> next;
  for (const PutAsideRequest& put : put_aside_) {
    if (!next || put.due < *next) next = put.due;
  }
  return next;
}

void Session::ServePutAside(PutAsideUntil until) {
  const auto now = std::chrono::steady_clock::now();
  const auto later = std::stable_partition(
      put_aside_.begin(), put_aside_.end(),
      [&](const PutAsideRequest& put) { return until == PutAsideUntil::kDue && put.due > now; });
  std::vector<PutAsideRequest> due(std::make_move_iterator(later),
                                   std::make_move_iterator(put_aside_.end()));
  put_aside_.erase(later, put_aside_.end());
  for (PutAsideRequest& put : due) {
    if (until == PutAsideUntil::kEnd) {
      put.fault = Fault{.kind = Fault::Kind::kFail, .error = EIO, .aftermath = Aftermath::kKeep};
    }
    context_.resumed = put.fault;
    fuse_buf buffer{};
    buffer.mem = put.request.data();
    buffer.size = put.request.size();
    Process(buffer, &put.extras);
    context_.resumed.reset();
  }
}

void Session::Detach() {
  if (std::exchange(mounted_, false)) fuse_session_unmount(session_);
}

bool Session::AnswerByHeader(const fuse_buf& buffer) {
  fuse_in_header header;
  CHECK(buffer.size >= sizeof header);
  std::memcpy(&header, buffer.mem, sizeof header);
  const bool dead = header.nodeid != 0 && !context_.nodes.Lives(header.nodeid);
  switch (header.opcode) {
    case FUSE_INTERRUPT: return true;  // No request waits for anything that could be interrupted.
    case FUSE_FORGET: return dead;
    case FUSE_RELEASE:
    case FUSE_RELEASEDIR:
      if (dead) ReplyError(header.unique, 0);
      return dead;
    case FUSE_INIT:
      context_.greeting = GreetingFlags(buffer);
      context_.greeting_is_due = true;
      return false;
    case FUSE_DESTROY:
    case FUSE_BATCH_FORGET: return false;
    default: break;
  }
  if (dead) {
    ++context_.counters.dead_requests;
    ReplyError(header.unique, EIO);
    return true;
  }
  switch (header.opcode) {
    case FUSE_SYNCFS:
      if (const int error = PerformSyncfs(context_, static_cast<pid_t>(header.pid));
          !context_.postponed) {
        ReplyError(header.unique, error);
        NotifyRefusal(context_);
      }
      return true;
    case kOpcodeStatx:
      context_.AskFor(static_cast<pid_t>(header.pid),
                      {Question::Kind::kAttributes, NodeTable::InoOf(header.nodeid), 0, {}});
      AnswerStatx(header.unique, header.nodeid);
      return true;
    case kOpcodeCopyFileRange64: ReplyError(header.unique, ENOSYS); return true;
    default: return false;
  }
}

void Session::ReplyError(std::uint64_t unique, int error) {
  fuse_out_header header{};
  header.len = sizeof header;
  header.error = -error;
  header.unique = unique;
  // Fails only if the kernel no longer waits.
  (void)!write(fd(), &header, sizeof header);
}

void Session::AnswerStatx(std::uint64_t unique, fuse_ino_t node) {
  const auto statx = PerformStatx(context_, NodeTable::InoOf(node));
  if (!statx) return ReplyError(unique, static_cast<int>(statx.error()));
  fuse_out_header header{};
  header.len = sizeof header + sizeof *statx;
  header.unique = unique;
  StatxOut out = *statx;
  const std::array<iovec, 2> pieces{{{&header, sizeof header}, {&out, sizeof out}}};
  (void)!writev(fd(), pieces.data(), static_cast<int>(pieces.size()));
}

bool Session::NotifyEpoch() {
  fuse_out_header header{};
  header.len = sizeof header;
  header.error = kNotifyEpoch;
  return write(fd(), &header, sizeof header) == sizeof header;
}

// The kernel answers ENOENT for what it does not know any more, which is what is wanted.

void Session::NotifyAttributes(fuse_ino_t node) {
  (void)fuse_lowlevel_notify_inval_inode(session_, node, -1, 0);
}

void Session::NotifyPages(fuse_ino_t node) {
  (void)fuse_lowlevel_notify_inval_inode(session_, node, 0, 0);
}

void Session::NotifyName(const std::string& name) {
  (void)fuse_lowlevel_notify_inval_entry(session_, FUSE_ROOT_ID, name.c_str(), name.size());
}

}  // namespace tornfs
