// Log: lines as LazyFS writes them, for programs that wait for them or read them.
//
//   [2026-12-01 08:00:00.123] [LOGGER] [LEVEL] TEXT      LOGGER is `global` in a file, else
//   `console`
//
// Threads: the loop's.
#pragma once

#include <string>
#include <string_view>

#include "common/fd.h"
#include "common/result.h"

namespace tornfs::harness::lazyfs {

class Log {
 public:
  // To the file, which is truncated; with an empty path to standard output.
  // Errors: kIo.
  [[nodiscard]] static Result<Log> Open(const std::string& path);

  void Info(std::string_view text) { Write("info", text); }
  void Warn(std::string_view text) { Write("warning", text); }
  void Critical(std::string_view text) { Write("critical", text); }

 private:
  explicit Log(Fd file) : file_(std::move(file)) {}
  void Write(std::string_view level, std::string_view text);

  Fd file_;  // Invalid: standard output.
};

}  // namespace tornfs::harness::lazyfs
