#include "common/check.h"

#include <cstdio>
#include <cstdlib>

namespace tornfs {

void CheckFailed(const char* file, int line, const char* what) {
  std::fprintf(stderr, "%s:%d: CHECK failed: %s\n", file, line, what);
  std::abort();
}

}  // namespace tornfs
