#include "harness/live/stdout_tee.h"

#include <limits.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace tornfs::harness {

StdoutTee::~StdoutTee() {
  if (watched_) server_.loop().RemoveFd(fd_);
}

void StdoutTee::Pump() {
  std::string fresh = server_.TakeStdout();
  text_ += fresh;
  if (!closed_) queue_ += fresh;
  if (!queue_.empty()) Forward();
  Watch();
}

// A pipe that is ready takes PIPE_BUF bytes without blocking; so do files and terminals.
void StdoutTee::Forward() {
  std::size_t done = 0;
  while (done < queue_.size()) {
    pollfd entry{fd_, POLLOUT, 0};
    if (::poll(&entry, 1, 0) != 1) break;
    const std::size_t most = std::min<std::size_t>(queue_.size() - done, PIPE_BUF);
    const ssize_t n = ::write(fd_, queue_.data() + done, most);
    if (n >= 0) {
      done += static_cast<std::size_t>(n);
    } else if (errno != EINTR && errno != EAGAIN) {
      closed_ = true;
      queue_.clear();
      return;
    }
  }
  queue_.erase(0, done);
}

void StdoutTee::Watch() {
  const bool wanted = !queue_.empty();
  if (wanted == watched_) return;
  watched_ = wanted;
  if (wanted) {
    server_.loop().AddFd(fd_, EPOLLOUT, [this](std::uint32_t) { Pump(); });
  } else {
    server_.loop().RemoveFd(fd_);
  }
}

std::string StdoutTee::Promises() const {
  return text_.substr(0, text_.rfind('\n') + 1);  // npos + 1 is 0.
}

}  // namespace tornfs::harness
