// Going into the background, with a parent that waits until there is something to say.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "common/fd.h"
#include "common/result.h"

namespace tornfs::harness {

// What the daemon's part of a start reports to the shell it was started from.
class StartReport {
 public:
  StartReport() = default;  // Stays in the foreground: reports go to this process's own streams.
  explicit StartReport(Fd pipe) : pipe_(std::move(pipe)) {}

  // The daemon is usable. `text` goes to standard output. A daemon lets go of its terminal now.
  void Succeeded(const std::string& text);
  // `line` goes to standard error, and the parent exits with `exit`.
  void Failed(int exit, const std::string& line);

 private:
  void Send(int exit, const std::string& text);
  Fd pipe_;
};

// Forks. The child goes on in a session of its own, in the directory "/", and calls `daemon`, whose
// result is its exit code. The parent returns the exit code that the child reported, or 3 if it
// died without a word. Requires a single-threaded caller. Errors: kIo.
[[nodiscard]] Result<int> RunInBackground(const std::function<int(StartReport&)>& daemon);

}  // namespace tornfs::harness
