#include "fusefs/image/image_server.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "common/check.h"

namespace tornfs {
namespace {

constexpr fuse_ino_t kDiskNode = 2;
constexpr fuse_ino_t kOutputNode = 3;
constexpr const char* kDiskName = "disk";
constexpr const char* kOutputName = "stdout";
constexpr double kForever = 86400;
constexpr std::size_t kNotLogged = SIZE_MAX;
// How long a slow device waits for more before it answers.
constexpr long kSlowNanoseconds = 3'000'000;

void OnInit(void*, fuse_conn_info* connection) {
  connection->want &= ~static_cast<unsigned>(FUSE_CAP_AUTO_INVAL_DATA | FUSE_CAP_WRITEBACK_CACHE |
                                             FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE |
                                             FUSE_CAP_SPLICE_MOVE | FUSE_CAP_HANDLE_KILLPRIV);
  connection->want |= (FUSE_CAP_ASYNC_DIO | FUSE_CAP_ASYNC_READ) & connection->capable;
  connection->max_write = 1U << 20;
  connection->max_background = 256;
  connection->congestion_threshold = 256;
}

}  // namespace

Result<std::unique_ptr<ImageServer>> ImageServer::Mount(EventLoop& loop, const std::string& folder,
                                                        std::uint64_t size) {
  if (::access("/dev/fuse", R_OK | W_OK) != 0) {
    return tl::make_unexpected(Error{ErrorCode::kMissing, errno, "/dev/fuse"});
  }
  std::unique_ptr<ImageServer> server(new ImageServer(loop, folder, size));
  fuse_args arguments = FUSE_ARGS_INIT(0, nullptr);
  const bool added =
      fuse_opt_add_arg(&arguments, "tornfs") == 0 &&
      fuse_opt_add_arg(&arguments, "-ofsname=tornfs-image,subtype=tornfs-image") == 0;
  server->session_ =
      added ? fuse_session_new(&arguments, &Operations(), sizeof Operations(), server.get())
            : nullptr;
  fuse_opt_free_args(&arguments);
  if (server->session_ == nullptr) return Fail(ErrorCode::kIo, "fuse_session_new");
  if (fuse_session_mount(server->session_, folder.c_str()) != 0) {
    return Fail(ErrorCode::kMissing, "cannot mount on " + folder);
  }
  server->mounted_ = true;
  const int fd = fuse_session_fd(server->session_);
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0 || ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0) {
    return IoError(errno, "fcntl /dev/fuse");
  }
  server->timer_ = Fd(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!server->timer_.valid()) return IoError(errno, "timerfd_create");
  ImageServer* self = server.get();
  loop.AddFd(fd, EPOLLIN, [self](std::uint32_t) { self->Serve(); });
  loop.AddFd(self->timer_.get(), EPOLLIN, [self](std::uint32_t) {
    std::uint64_t expired = 0;
    (void)!::read(self->timer_.get(), &expired, sizeof expired);
    self->ReleaseHeld();
  });
  return server;
}

ImageServer::ImageServer(EventLoop& loop, const std::string& folder, std::uint64_t size)
    : loop_(loop),
      file_(folder + "/" + kDiskName),
      output_file_(folder + "/" + kOutputName),
      image_(size) {}

ImageServer::~ImageServer() {
  if (session_ == nullptr) return;
  ReleaseHeld();
  if (mounted_) {
    loop_.RemoveFd(fuse_session_fd(session_));
    if (timer_.valid()) loop_.RemoveFd(timer_.get());
    fuse_session_unmount(session_);
  }
  fuse_session_destroy(session_);
  std::free(buffer_.mem);
}

void ImageServer::SetImage(DeviceImage image) {
  CHECK(image.size() == image_.size());
  CHECK(held_.empty());
  image_ = std::move(image);
}

void ImageServer::StartLog() {
  logging_ = true;
  log_.clear();
  clock_ = 0;
  lines_ = 0;
}

std::string ImageServer::TakeOutput() { return std::exchange(output_, {}); }

void ImageServer::Print(fuse_req_t request, const char* data, std::size_t size) {
  output_.append(data, size);
  const auto ended = std::count(data, data + size, '\n');
  for (std::ptrdiff_t i = 0; i < ended; ++i) Mark(2 * lines_++ + 1);
  (void)fuse_reply_write(request, size);
}

void ImageServer::Mark(std::uint64_t mark) {
  if (!logging_) return;
  const std::uint64_t now = ++clock_;
  log_.push_back({IoEvent::Kind::kMark, now, now, 0, {}, mark});
}

IoLog ImageServer::StopLog() {
  logging_ = false;
  for (Held& held : held_) held.event = kNotLogged;
  return std::exchange(log_, {});
}

void ImageServer::SetSlow(bool slow) {
  slow_ = slow;
  if (!slow) ReleaseHeld();
}

ImageServer& ImageServer::Of(fuse_req_t request) {
  return *static_cast<ImageServer*>(fuse_req_userdata(request));
}

// Serves what there is, up to a bound, so that other descriptors of the loop get their turn.
void ImageServer::Serve() {
  for (int served = 0; served < 16; ++served) {
    const int received = fuse_session_receive_buf(session_, &buffer_);
    if (received <= 0) return;
    fuse_session_process_buf(session_, &buffer_);
  }
}

void ImageServer::Read(fuse_req_t request, std::size_t size, off_t offset) {
  const auto at = static_cast<std::uint64_t>(offset);
  if (at >= image_.size()) {
    (void)fuse_reply_buf(request, nullptr, 0);
    return;
  }
  read_buffer_.resize(std::min<std::uint64_t>(size, image_.size() - at));
  image_.Read(at, read_buffer_);
  (void)fuse_reply_buf(request, reinterpret_cast<const char*>(read_buffer_.data()),
                       read_buffer_.size());
}

void ImageServer::Write(fuse_req_t request, const char* data, std::size_t size, off_t offset) {
  const auto at = static_cast<std::uint64_t>(offset);
  if (at > image_.size() || size > image_.size() - at) {
    (void)fuse_reply_err(request, ENOSPC);
    return;
  }
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  image_.Write(at, {bytes, size});
  std::size_t event = kNotLogged;
  if (logging_) {
    event = log_.size();
    log_.push_back(
        {IoEvent::Kind::kWrite, ++clock_, IoEvent::kNever, at, {bytes, bytes + size}, 0});
  }
  held_.push_back({request, size, event});
  if (!slow_ || held_.size() >= kHeldMost) {
    ReleaseHeld();
  } else {
    ArmTimer();
  }
}

void ImageServer::Flush(fuse_req_t request) {
  ++flushes_;
  if (logging_) {
    const std::uint64_t issued = ++clock_;
    log_.push_back({IoEvent::Kind::kFlush, issued, ++clock_, 0, {}, 0});
  }
  (void)fuse_reply_err(request, 0);
  if (!held_.empty()) ArmTimer();
}

void ImageServer::ReleaseHeld() {
  // A reply can bring the next request at once, but that is served later, by the loop.
  while (!held_.empty()) {
    const Held held = held_.back();
    held_.pop_back();
    if (held.event != kNotLogged) log_[held.event].completed = ++clock_;
    (void)fuse_reply_write(held.request, held.size);
  }
}

void ImageServer::ArmTimer() {
  itimerspec when{};
  when.it_value.tv_nsec = kSlowNanoseconds;
  (void)::timerfd_settime(timer_.get(), 0, &when, nullptr);
}

struct stat ImageServer::StatOf(fuse_ino_t node) const {
  struct stat status {};
  status.st_ino = node;
  status.st_nlink = 1;
  if (node == kDiskNode) {
    status.st_mode = S_IFREG | 0600;
    status.st_size = static_cast<off_t>(image_.size());
  } else if (node == kOutputNode) {
    status.st_mode = S_IFREG | 0600;
  } else {
    status.st_mode = S_IFDIR | 0700;
    status.st_nlink = 2;
  }
  return status;
}

const fuse_lowlevel_ops& ImageServer::Operations() {
  static const fuse_lowlevel_ops kOperations = [] {
    fuse_lowlevel_ops ops{};
    ops.init = OnInit;
    ops.lookup = [](fuse_req_t request, fuse_ino_t parent, const char* name) {
      const fuse_ino_t node = parent != FUSE_ROOT_ID                ? 0
                              : std::strcmp(name, kDiskName) == 0   ? kDiskNode
                              : std::strcmp(name, kOutputName) == 0 ? kOutputNode
                                                                    : 0;
      if (node == 0) {
        (void)fuse_reply_err(request, ENOENT);
        return;
      }
      fuse_entry_param entry{};
      entry.ino = node;
      entry.attr = Of(request).StatOf(node);
      entry.attr_timeout = kForever;
      entry.entry_timeout = kForever;
      (void)fuse_reply_entry(request, &entry);
    };
    ops.getattr = [](fuse_req_t request, fuse_ino_t node, fuse_file_info*) {
      const struct stat status = Of(request).StatOf(node);
      (void)fuse_reply_attr(request, &status, kForever);
    };
    // Times are of no interest, and the size cannot change.
    ops.setattr = [](fuse_req_t request, fuse_ino_t node, struct stat*, int, fuse_file_info*) {
      const struct stat status = Of(request).StatOf(node);
      (void)fuse_reply_attr(request, &status, kForever);
    };
    ops.open = [](fuse_req_t request, fuse_ino_t node, fuse_file_info* file) {
      file->direct_io = node == kOutputNode;
      (void)fuse_reply_open(request, file);
    };
    ops.read = [](fuse_req_t request, fuse_ino_t node, std::size_t size, off_t offset,
                  fuse_file_info*) {
      if (node == kDiskNode) {
        Of(request).Read(request, size, offset);
      } else {
        (void)fuse_reply_buf(request, nullptr, 0);
      }
    };
    ops.write = [](fuse_req_t request, fuse_ino_t node, const char* data, std::size_t size,
                   off_t offset, fuse_file_info*) {
      if (node == kDiskNode) {
        Of(request).Write(request, data, size, offset);
      } else {
        Of(request).Print(request, data, size);
      }
    };
    ops.fsync = [](fuse_req_t request, fuse_ino_t node, int, fuse_file_info*) {
      if (node == kDiskNode) {
        Of(request).Flush(request);
      } else {
        (void)fuse_reply_err(request, 0);
      }
    };
    ops.release = [](fuse_req_t request, fuse_ino_t, fuse_file_info*) {
      (void)fuse_reply_err(request, 0);
    };
    return ops;
  }();
  return kOperations;
}

}  // namespace tornfs
