#include "harness/live/held_stderr.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string_view>
#include <utility>

namespace tornfs::harness {

HeldStderr::HeldStderr()
    : original_(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)),
      kept_(::memfd_create("stderr", MFD_CLOEXEC)) {
  if (!original_.valid() || !kept_.valid() || ::dup2(kept_.get(), STDERR_FILENO) < 0) {
    kept_.Reset();
  }
}

HeldStderr::~HeldStderr() { (void)WriteAll(STDERR_FILENO, Release()); }

std::string HeldStderr::Release() {
  if (!kept_.valid()) return "";
  (void)::dup2(original_.get(), STDERR_FILENO);
  const Fd kept = std::move(kept_);
  if (::lseek(kept.get(), 0, SEEK_SET) < 0) return "";
  return ReadAll(kept.get()).value_or("");
}

std::string HeldStderr::TakeLastLine() {
  std::string text = Release();
  while (text.ends_with('\n')) text.pop_back();
  std::string line = text.substr(text.rfind('\n') + 1);  // npos + 1 is 0.
  constexpr std::string_view kPrefix = "tornfs: warning: ";
  if (line.starts_with(kPrefix)) line.erase(0, kPrefix.size());
  return line;
}

}  // namespace tornfs::harness
