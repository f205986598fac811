// A block device to mount on. The kernel tells a FUSE filesystem of sync(2) and syncfs(2) only if
// it is mounted on one (type fuseblk); nothing is ever stored there.
#pragma once

#include <string>

#include "common/fd.h"
#include "common/result.h"

namespace tornfs {

struct LoopDevice {
  std::string path;  // "/dev/loop0".
  Fd fd;             // Keeps the device; once it is mounted, the mount does. Gone with the last.
};

// Errors: kMissing without the right or without loop devices.
[[nodiscard]] Result<LoopDevice> NewLoopDevice();

}  // namespace tornfs
