#include "common/log.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>

namespace tornfs {
namespace {

LogLevel InitialLevel() {
  const char* wanted = std::getenv("TORNFS_LOG");
  return wanted != nullptr && std::string_view(wanted) == "debug" ? LogLevel::kDebug
                                                                  : LogLevel::kInfo;
}

std::atomic<LogLevel> log_level{InitialLevel()};
std::atomic<std::uint64_t> error_lines{0};

std::string_view Prefix(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return "tornfs: debug: ";
    case LogLevel::kInfo: return "tornfs: ";
    case LogLevel::kWarning: return "tornfs: warning: ";
    case LogLevel::kError: return "tornfs: error: ";
  }
  return "tornfs: ";
}

}  // namespace

void SetLogLevel(LogLevel level) { log_level = level; }

void Log(LogLevel level, std::string_view text) {
  if (level == LogLevel::kError) ++error_lines;
  if (level < log_level.load()) return;
  std::string line(Prefix(level));
  line += text;
  line += '\n';
  // A log line that cannot be written has nowhere else to go.
  (void)!::write(STDERR_FILENO, line.data(), line.size());
}

std::uint64_t LoggedErrors() { return error_lines; }

}  // namespace tornfs
