// What becomes of the pages of a file whose fsync failed. Filesystems differ, and programs that try
// again rely on one of them without knowing.
#pragma once

#include <cstdint>

namespace tornfs {

enum class Aftermath : std::uint8_t {
  // As ext4 and XFS leave it: the pages keep what was written and count as clean, so no later
  // barrier writes them. Size and attributes stay pending.
  kForget,
  // As btrfs leaves it: the file goes back to what is durable, for readers too.
  kRevert,
  // Nothing is lost: a later barrier tries again. What programs hope for.
  kKeep,
};

}  // namespace tornfs
