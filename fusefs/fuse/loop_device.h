// Loop devices: files as block devices, for as long as a descriptor of the device is open or it is
// mounted.
#pragma once

#include <cstdint>
#include <string>

#include "common/fd.h"
#include "common/result.h"

namespace tornfs {

struct LoopDevice {
  std::string path;  // "/dev/loop0".
  Fd fd;             // Keeps the device; once it is mounted, the mount does. Gone with the last.
};

// Whether the kernel caches the file's pages, or passes each block request on as it is.
enum class LoopAccess : std::uint8_t { kCached, kDirect };

// A device on `backing`, which must be open for direct I/O if it is to be used so.
// Errors: kMissing without the right or without loop devices.
[[nodiscard]] Result<LoopDevice> AttachLoopDevice(const Fd& backing, LoopAccess access);

// A block device to mount on. The kernel tells a FUSE filesystem of sync(2) and syncfs(2) only if
// it is mounted on one (type fuseblk); nothing is ever stored there. Errors: kMissing.
[[nodiscard]] Result<LoopDevice> NewLoopDevice();

}  // namespace tornfs
