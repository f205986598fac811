#include "harness/on/repeated_input.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace tornfs::harness {

Result<RepeatedInput> RepeatedInput::Take() {
  struct stat status {};
  const bool open = ::fstat(STDIN_FILENO, &status) == 0;
  if (!open) {
    auto nothing = OpenFile("/dev/null", O_RDONLY);
    if (!nothing) return tl::make_unexpected(nothing.error());
    return RepeatedInput(std::move(*nothing), -1);
  }
  if (!S_ISFIFO(status.st_mode) && !S_ISSOCK(status.st_mode)) {
    Fd same(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0));
    if (!same.valid()) return IoError(errno, "standard input");
    return RepeatedInput(std::move(same), ::lseek(STDIN_FILENO, 0, SEEK_CUR));
  }
  Fd copy(::memfd_create("input", MFD_CLOEXEC));
  if (!copy.valid()) return IoError(errno, "memfd_create");
  auto text = ReadAll(STDIN_FILENO);
  if (!text) return tl::make_unexpected(text.error());
  if (const Status written = WriteAll(copy.get(), *text); !written) {
    return tl::make_unexpected(written.error());
  }
  return RepeatedInput(std::move(copy), 0);
}

Result<int> RepeatedInput::Rewound() const {
  if (start_ >= 0 && ::lseek(fd_.get(), start_, SEEK_SET) < 0) {
    return IoError(errno, "rewind standard input");
  }
  return fd_.get();
}

}  // namespace tornfs::harness
