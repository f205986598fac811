#include "harness/live/program_runner.h"

#include <sys/epoll.h>

#include <utility>

#include "common/log.h"

namespace tornfs::harness {

ProgramRunner::ProgramRunner(EventLoop& loop, Supervisor supervisor)
    : loop_(loop), supervisor_(std::move(supervisor)) {
  loop_.AddFd(
      supervisor_.event_fd(), EPOLLIN, [this](std::uint32_t) { Poll(); },
      EventLoop::Nesting::kAllowed);
}

ProgramRunner::~ProgramRunner() {
  Kill();
  (void)AwaitGone();
  loop_.RemoveFd(supervisor_.event_fd());
}

void ProgramRunner::Poll() {
  auto polled = supervisor_.Poll();
  if (!polled) {
    report_ = tl::make_unexpected(polled.error());
  } else if (*polled) {
    report_ = **polled;
  }
  // Without a helper the descriptor would be ready for ever.
  if (!polled) loop_.RemoveFd(supervisor_.event_fd());
}

Result<ProgramRunner::Ended> ProgramRunner::Run(const SpawnRequest& request, const Limits& limits) {
  report_.reset();
  if (auto spawned = supervisor_.Spawn(request); !spawned) {
    return tl::make_unexpected(spawned.error());
  }
  std::optional<EventLoop::Clock::time_point> deadline;
  if (limits.timeout) deadline = EventLoop::Clock::now() + *limits.timeout;
  Ended ended;
  const bool in_time = loop_.RunUntil(
      [&] {
        ended.stopped = !idle() && limits.stop && limits.stop();
        return idle() || ended.stopped;
      },
      deadline);
  ended.timed_out = !in_time;
  if (!idle()) {
    Kill();
    (void)AwaitGone();
  }
  if (limits.stop) (void)limits.stop();  // For what the program did last.
  if (!*report_) return tl::make_unexpected(report_->error());
  ended.report = **report_;
  return ended;
}

void ProgramRunner::Kill() {
  if (const Status killed = supervisor_.Kill(); !killed) LogWarning(killed.error().Message());
}

std::size_t ProgramRunner::AwaitGone() {
  if (idle()) return 0;
  loop_.RunUntil([this] { return idle(); });
  return 1;
}

}  // namespace tornfs::harness
