// HeldStderr: keeps what this process and its children write to standard error, so that a failure
// is told in one line with their reason in it.
//
// Threads: one process-wide object at a time, before other threads write.
#pragma once

#include <string>

#include "common/fd.h"

namespace tornfs::harness {

class HeldStderr {
 public:
  // If that is impossible, nothing is kept and everything appears as usual.
  HeldStderr();
  // Shows what was kept and not taken.
  ~HeldStderr();
  HeldStderr(const HeldStderr&) = delete;
  HeldStderr& operator=(const HeldStderr&) = delete;

  // Ends the holding and returns the last line, without our own log's prefix.
  [[nodiscard]] std::string TakeLastLine();

 private:
  std::string Release();

  Fd original_;
  Fd kept_;
};

}  // namespace tornfs::harness
