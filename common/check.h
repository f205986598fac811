// CHECK: a condition that only a bug in this project can break. On in every build: a wrong answer
// about a crash is worse than no answer.
#pragma once

namespace tornfs {

// Prints "file:line: CHECK failed: what" to standard error and aborts.
[[noreturn]] void CheckFailed(const char* file, int line, const char* what);

}  // namespace tornfs

#define CHECK(condition) \
  (static_cast<bool>(condition) ? void(0) : ::tornfs::CheckFailed(__FILE__, __LINE__, #condition))
