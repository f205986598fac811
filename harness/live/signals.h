// StopSignals: SIGINT, SIGTERM and SIGHUP as events of a loop.
//
// Threads: make it before any other thread exists, so that all of them have the signals blocked.
#pragma once

#include <memory>

#include "common/fd.h"
#include "common/result.h"
#include "fusefs/fuse/event_loop.h"

namespace tornfs::harness {

class StopSignals {
 public:
  // Blocks the signals, and ignores SIGPIPE. `loop` must outlive the object. Errors: kIo.
  [[nodiscard]] static Result<std::unique_ptr<StopSignals>> Watch(EventLoop& loop);
  ~StopSignals() { loop_.RemoveFd(fd_.get()); }
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // The first one that came, or 0.
  [[nodiscard]] int received() const { return received_; }

 private:
  StopSignals(EventLoop& loop, Fd fd);
  void Receive();

  EventLoop& loop_;
  Fd fd_;
  int received_ = 0;
};

}  // namespace tornfs::harness
