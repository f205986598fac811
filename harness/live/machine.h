// What the machine offers to a live mount.
#pragma once

#include <string>
#include <utility>

#include "common/result.h"

namespace tornfs::harness {

// Whether this process can mount: it may open /dev/fuse, and is root or has fusermount3.
// Errors: kMissing, with the reason in the text.
[[nodiscard]] Status CheckFuse();

// Where fusermount3 is, or "".
[[nodiscard]] std::string FindFusermount();

// Of the running kernel: 6.16 gives {6, 16}.
[[nodiscard]] std::pair<int, int> KernelVersion();
// Since 6.16 all names of a mount can be dropped at once (FUSE_NOTIFY_INC_EPOCH).
[[nodiscard]] bool HasKernelEpochs();

}  // namespace tornfs::harness
