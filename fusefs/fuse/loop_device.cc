#include "fusefs/fuse/loop_device.h"

#include <fcntl.h>
#include <linux/loop.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace tornfs {

namespace {

constexpr off_t kDeviceBytes = 1 << 20;

tl::unexpected<Error> Missing(const char* what) {
  return tl::make_unexpected(Error{ErrorCode::kMissing, errno, what});
}

}  // namespace

Result<LoopDevice> AttachLoopDevice(const Fd& backing, LoopAccess access) {
  const Fd control(open("/dev/loop-control", O_RDWR | O_CLOEXEC));
  if (!control.valid()) return Missing("/dev/loop-control");
  constexpr int kTries = 16;  // Another process may take the free device first.
  for (int i = 0; i < kTries; ++i) {
    const int number = ioctl(control.get(), LOOP_CTL_GET_FREE);
    if (number < 0) return Missing("LOOP_CTL_GET_FREE");
    std::string path = "/dev/loop" + std::to_string(number);
    Fd device(open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (!device.valid()) return Missing("a loop device");
    loop_config config{};
    config.fd = static_cast<std::uint32_t>(backing.get());
    config.info.lo_flags = LO_FLAGS_AUTOCLEAR;
    if (access == LoopAccess::kDirect) config.info.lo_flags |= LO_FLAGS_DIRECT_IO;
    if (ioctl(device.get(), LOOP_CONFIGURE, &config) == 0) {
      return LoopDevice{std::move(path), std::move(device)};
    }
    if (errno != EBUSY) return Missing("LOOP_CONFIGURE");
  }
  return Missing("a free loop device");
}

Result<LoopDevice> NewLoopDevice() {
  const Fd backing(memfd_create("tornfs", MFD_CLOEXEC));
  if (!backing.valid() || ftruncate(backing.get(), kDeviceBytes) != 0) return Missing("memfd");
  return AttachLoopDevice(backing, LoopAccess::kCached);
}

}  // namespace tornfs
