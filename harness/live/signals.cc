#include "harness/live/signals.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace tornfs::harness {

Result<std::unique_ptr<StopSignals>> StopSignals::Watch(EventLoop& loop) {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&set, signal);
  if (::sigprocmask(SIG_BLOCK, &set, nullptr) != 0) return IoError(errno, "block signals");
  (void)::signal(SIGPIPE, SIG_IGN);
  Fd fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd.valid()) return IoError(errno, "signalfd");
  return std::unique_ptr<StopSignals>(new StopSignals(loop, std::move(fd)));
}

StopSignals::StopSignals(EventLoop& loop, Fd fd) : loop_(loop), fd_(std::move(fd)) {
  loop_.AddFd(
      fd_.get(), EPOLLIN, [this](std::uint32_t) { Receive(); }, EventLoop::Nesting::kAllowed);
}

void StopSignals::Receive() {
  signalfd_siginfo info{};
  if (::read(fd_.get(), &info, sizeof info) != sizeof info) return;
  if (received_ == 0) received_ = static_cast<int>(info.ssi_signo);
}

}  // namespace tornfs::harness
