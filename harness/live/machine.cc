#include "harness/live/machine.h"

#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "common/fd.h"

namespace tornfs::harness {

std::string FindFusermount() {
  const char* path = std::getenv("PATH");
  std::string folders = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  folders += ":/usr/bin:/bin";  // Where libfuse looks for it in any case.
  while (!folders.empty()) {
    const std::size_t end = std::min(folders.find(':'), folders.size());
    const std::string candidate = folders.substr(0, end) + "/fusermount3";
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    folders.erase(0, end + 1);
  }
  return "";
}

Status CheckFuse() {
  constexpr const char* kDevice = "/dev/fuse";
  const auto missing = [](const std::string& text, int error) {
    return tl::make_unexpected(Error{ErrorCode::kMissing, error, text});
  };
  const Fd device(::open(kDevice, O_RDWR | O_CLOEXEC));
  if (!device.valid()) return missing("no FUSE here: /dev/fuse", errno);
  if (::geteuid() != 0 && FindFusermount().empty()) {
    return missing("without root, mounting needs fusermount3 (package fuse3)", 0);
  }
  return {};
}

std::pair<int, int> KernelVersion() {
  utsname name{};
  std::pair<int, int> version{0, 0};
  if (::uname(&name) == 0) {
    (void)std::sscanf(name.release, "%d.%d", &version.first, &version.second);
  }
  return version;
}

bool HasKernelEpochs() { return KernelVersion() >= std::pair(6, 16); }

}  // namespace tornfs::harness
