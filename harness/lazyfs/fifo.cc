#include "harness/lazyfs/fifo.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace tornfs::harness::lazyfs {

// Both ends are ours, so that the pipe never ends and never makes anybody wait.
Result<Fifos::Pipe> Fifos::OpenPipe(const std::string& path) {
  Pipe pipe;
  pipe.path = path;
  pipe.made = ::mkfifo(path.c_str(), 0777) == 0;
  if (!pipe.made && errno != EEXIST) return IoError(errno, "fifo " + path);
  if (pipe.made) (void)::chmod(path.c_str(), 0777);
  pipe.fd = Fd(::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!pipe.fd.valid()) return IoError(errno, "fifo " + path);
  struct stat found {};
  if (::fstat(pipe.fd.get(), &found) != 0) return IoError(errno, "fifo " + path);
  if (!S_ISFIFO(found.st_mode)) return Fail(ErrorCode::kInvalid, path + ": is no fifo");
  return pipe;
}

Result<std::unique_ptr<Fifos>> Fifos::Open(EventLoop& loop, const std::string& commands,
                                           const std::string& completed,
                                           std::function<void(std::string_view)> obey) {
  std::unique_ptr<Fifos> fifos(new Fifos(loop));
  fifos->obey_ = std::move(obey);
  for (const auto& [path, pipe] :
       {std::pair{&commands, &fifos->commands_}, {&completed, &fifos->completed_}}) {
    if (path->empty()) continue;
    auto opened = OpenPipe(*path);
    if (!opened) return tl::make_unexpected(opened.error());
    *pipe = std::move(*opened);
  }
  if (fifos->commands_.fd.valid()) {
    loop.AddFd(fifos->commands_.fd.get(), EPOLLIN,
               [raw = fifos.get()](std::uint32_t) { raw->Receive(); });
  }
  return fifos;
}

Fifos::~Fifos() {
  if (commands_.fd.valid()) loop_.RemoveFd(commands_.fd.get());
  for (const Pipe* pipe : {&commands_, &completed_}) {
    if (pipe->made) (void)::unlink(pipe->path.c_str());
  }
}

void Fifos::Receive() {
  std::array<char, 4096> buffer;
  const ssize_t got = ::read(commands_.fd.get(), buffer.data(), buffer.size());
  if (got <= 0) return;
  received_.append(buffer.data(), static_cast<std::size_t>(got));
  for (std::size_t end; (end = received_.find('\n')) != std::string::npos;) {
    const std::string line = received_.substr(0, end);
    received_.erase(0, end + 1);
    if (!std::exchange(too_long_, false)) obey_(line);
  }
  if (received_.size() > kMaxLineBytes) {
    received_.clear();
    if (!std::exchange(too_long_, true)) obey_("");
  }
}

bool Fifos::Complete(std::string_view text) {
  if (!completed_.fd.valid()) return true;
  const std::string line = std::string(text) + "\n";
  return ::write(completed_.fd.get(), line.data(), line.size()) ==
         static_cast<ssize_t>(line.size());
}

}  // namespace tornfs::harness::lazyfs
