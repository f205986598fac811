// What changing a file takes of its mode, as the kernel's setattr_should_drop_suidgid().
#pragma once

#include <sys/stat.h>

#include "fusefs/core/types.h"

namespace tornfs {

// The permission bits `mode` without the set-id bits that a caller who must clear them clears. Of a
// file that is no directory. The set-group-id bit without group execution once meant mandatory
// locking: only who is not in the group loses it.
[[nodiscard]] inline mode_t WithoutSetId(mode_t mode, const Caller& caller) {
  mode &= ~mode_t{S_ISUID};
  if ((mode & S_IXGRP) != 0 || caller.foreign_group) mode &= ~mode_t{S_ISGID};
  return mode;
}

}  // namespace tornfs
