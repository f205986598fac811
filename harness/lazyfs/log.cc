#include "harness/lazyfs/log.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <ctime>
#include <utility>

namespace tornfs::harness::lazyfs {

Result<Log> Log::Open(const std::string& path) {
  if (path.empty()) return Log(Fd());
  auto file = OpenFile(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND);
  if (!file) return tl::make_unexpected(file.error());
  return Log(std::move(*file));
}

void Log::Write(std::string_view level, std::string_view text) {
  timespec now{};
  (void)::clock_gettime(CLOCK_REALTIME, &now);
  tm local{};
  (void)::localtime_r(&now.tv_sec, &local);
  std::array<char, 64> stamp{};
  const std::size_t length = std::strftime(stamp.data(), stamp.size(), "%F %T", &local);
  (void)std::snprintf(stamp.data() + length, stamp.size() - length, ".%03ld",
                      now.tv_nsec / 1'000'000);
  const std::string line = "[" + std::string(stamp.data()) + "] [" +
                           (file_.valid() ? "global" : "console") + "] [" + std::string(level) +
                           "] " + std::string(text) + "\n";
  // A log that cannot be written, or that nobody reads, is no reason to stop.
  pollfd ready{file_.valid() ? file_.get() : STDOUT_FILENO, POLLOUT, 0};
  if (::poll(&ready, 1, 0) == 1 && (ready.revents & POLLOUT) != 0) (void)WriteAll(ready.fd, line);
}

}  // namespace tornfs::harness::lazyfs
