// EventLoop: one thread's epoll loop. The mount, the control clients, timers and child events of
// one worker are descriptors in it.
//
// Pumping nests: a callback may call PumpOnce or RunUntil, so code that waits can be written in
// sequence ("spawn, run until it has exited"). While the callback of a descriptor runs, that
// descriptor is not looked at again, not even by nested pumping, unless it was added for that.
//
// Threads: one, the thread that pumps. fork(): the child must not use its copy.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>

#include "common/fd.h"
#include "common/result.h"

namespace tornfs {

class EventLoop {
 public:
  using Clock = std::chrono::steady_clock;
  // Gets the ready EPOLL* bits.
  using Callback = std::function<void(std::uint32_t events)>;

  // Whether nested pumping may call a callback that is running.
  enum class Nesting : std::uint8_t { kForbidden, kAllowed };

  // Errors: kIo.
  [[nodiscard]] static Result<std::unique_ptr<EventLoop>> Create();
  ~EventLoop() = default;
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Calls `callback` whenever `fd` is ready for `events` (EPOLLIN, EPOLLOUT; errors and hang-ups
  // come unasked). The descriptor stays the caller's and must be removed before it is closed.
  // Requires that `fd` is not in the loop.
  void AddFd(int fd, std::uint32_t events, Callback callback,
             Nesting nesting = Nesting::kForbidden);
  // Changes what is waited for; 0 pauses the descriptor. Requires that `fd` is in the loop.
  void SetEvents(int fd, std::uint32_t events);
  // Forgets `fd`; its own callback may call this. Does nothing for a descriptor not in the loop.
  void RemoveFd(int fd);

  // Waits at most `timeout` (negative: for ever) for one descriptor and runs its callback.
  // Returns whether one ran. A signal ends the wait early.
  bool PumpOnce(std::chrono::milliseconds timeout);
  // Pumps until `done` answers true, which is asked first and after every callback. Returns false
  // if the deadline passed before.
  bool RunUntil(const std::function<bool()>& done,
                std::optional<Clock::time_point> deadline = std::nullopt);

 private:
  struct Entry {
    int fd = -1;
    std::uint32_t events = 0;
    std::uint64_t id = 0;
    Nesting nesting = Nesting::kForbidden;
    bool watched = false;  // Known to epoll.
    bool running = false;  // Its callback is on the stack.
    Callback callback;
  };

  explicit EventLoop(Fd epoll) : epoll_(std::move(epoll)) {}
  void Arm(Entry& entry, std::uint32_t events);
  void Dispatch(std::shared_ptr<Entry> entry, std::uint32_t events);

  Fd epoll_;
  std::uint64_t next_id_ = 1;  // Tells a descriptor from an earlier one of the same number.
  std::unordered_map<std::uint64_t, std::shared_ptr<Entry>> entries_;  // By id.
  std::unordered_map<int, std::uint64_t> ids_;                         // By descriptor.
};

}  // namespace tornfs
