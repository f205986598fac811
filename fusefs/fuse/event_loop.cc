#include "fusefs/fuse/event_loop.h"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "common/check.h"

namespace tornfs {

namespace {

int Milliseconds(std::chrono::milliseconds timeout) {
  if (timeout.count() < 0) return -1;
  constexpr std::int64_t kLongest = 1'000'000'000;
  return static_cast<int>(std::min<std::int64_t>(timeout.count(), kLongest));
}

}  // namespace

Result<std::unique_ptr<EventLoop>> EventLoop::Create() {
  Fd epoll(epoll_create1(EPOLL_CLOEXEC));
  if (!epoll.valid()) return IoError(errno, "epoll_create1");
  return std::unique_ptr<EventLoop>(new EventLoop(std::move(epoll)));
}

void EventLoop::AddFd(int fd, std::uint32_t events, Callback callback, Nesting nesting) {
  auto entry = std::make_shared<Entry>();
  entry->fd = fd;
  entry->id = next_id_++;
  entry->nesting = nesting;
  entry->callback = std::move(callback);
  CHECK(entries_.emplace(entry->id, entry).second);
  CHECK(ids_.emplace(fd, entry->id).second);
  Arm(*entry, events);
}

void EventLoop::SetEvents(int fd, std::uint32_t events) {
  Entry& entry = *entries_.at(ids_.at(fd));
  if (entry.running) {
    entry.events = events;  // Dispatch arms it when the callback has returned.
  } else if (entry.events != events) {
    Arm(entry, events);
  }
}

void EventLoop::RemoveFd(int fd) {
  const auto found = ids_.find(fd);
  if (found == ids_.end()) return;
  Entry& entry = *entries_.at(found->second);
  if (entry.watched) epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
  entries_.erase(found->second);
  ids_.erase(found);
}

// A descriptor that is paused is taken out: epoll reports hang-ups even if nothing is asked for.
void EventLoop::Arm(Entry& entry, std::uint32_t events) {
  entry.events = events;
  if (events == 0) {
    if (entry.watched) CHECK(epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, entry.fd, nullptr) == 0);
    entry.watched = false;
    return;
  }
  struct epoll_event event {};
  event.events = entry.nesting == Nesting::kAllowed ? events : events | EPOLLONESHOT;
  event.data.u64 = entry.id;
  const int operation = entry.watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
  CHECK(epoll_ctl(epoll_.get(), operation, entry.fd, &event) == 0);
  entry.watched = true;
}

bool EventLoop::PumpOnce(std::chrono::milliseconds timeout) {
  struct epoll_event event {};
  // One at a time: a callback may remove any descriptor, or pump.
  const int ready = epoll_wait(epoll_.get(), &event, 1, Milliseconds(timeout));
  if (ready < 0) {
    CHECK(errno == EINTR);
    return false;
  }
  if (ready == 0) return false;
  const auto found = entries_.find(event.data.u64);
  if (found == entries_.end()) return false;
  Dispatch(found->second, event.events);
  return true;
}

void EventLoop::Dispatch(std::shared_ptr<Entry> entry, std::uint32_t events) {
  if (entry->nesting == Nesting::kAllowed) {
    entry->callback(events);
    return;
  }
  entry->running = true;
  entry->callback(events);
  entry->running = false;
  if (entries_.contains(entry->id)) Arm(*entry, entry->events);
}

bool EventLoop::RunUntil(const std::function<bool()>& done,
                         std::optional<Clock::time_point> deadline) {
  while (!done()) {
    if (!deadline) {
      PumpOnce(std::chrono::milliseconds(-1));
      continue;
    }
    const auto left = *deadline - Clock::now();
    if (left <= Clock::duration::zero()) return false;
    PumpOnce(std::chrono::ceil<std::chrono::milliseconds>(left));
  }
  return true;
}

}  // namespace tornfs
