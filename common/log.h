// Log lines for people, on standard error: "tornfs: error: text". Machines read events.jsonl and
// the control socket instead.
//
// One write(2) per line, so lines of several processes do not mix. ERROR lines are counted: a test
// run that expected none can ask.
#pragma once

#include <cstdint>
#include <string_view>

namespace tornfs {

enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarning, kError };

// Lines below `level` are dropped. The default is kInfo; TORNFS_LOG=debug lowers it.
void SetLogLevel(LogLevel level);
void Log(LogLevel level, std::string_view text);
[[nodiscard]] std::uint64_t LoggedErrors();

inline void LogInfo(std::string_view text) { Log(LogLevel::kInfo, text); }
inline void LogWarning(std::string_view text) { Log(LogLevel::kWarning, text); }
inline void LogError(std::string_view text) { Log(LogLevel::kError, text); }

}  // namespace tornfs
