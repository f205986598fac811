// Mount points before and after us: is this path fit to mount on, and is a dead daemon's mount
// still sitting there?
//
// A FUSE mount whose daemon died answers every call with ENOTCONN until somebody unmounts it.
// These functions look at the path itself: never call them for a mount the caller serves.
#pragma once

#include <string>
#include <vector>

#include "common/result.h"

namespace tornfs::harness {

// Whether a mount whose daemon is gone sits on `path`.
[[nodiscard]] bool IsStaleMount(const std::string& path);

// Detaches the topmost mount at `path`, also while it is in use: umount2(MNT_DETACH) where that is
// permitted, else `fusermount3 -u -z`. Errors: kIo, kMissing (no fusermount3).
[[nodiscard]] Status DetachMount(const std::string& path);

// Detaches every stale mount at `path`; nothing to do is success. Errors: those of DetachMount.
[[nodiscard]] Status CleanStaleMount(const std::string& path);

// Whether `path` can be mounted on: an empty directory without a mount.
// Errors, one line each: kNotFound (missing), kInvalid (not a directory), kBusy (not empty, or
// already a mount, stale ones included), kIo.
[[nodiscard]] Status CheckMountPoint(const std::string& path);

// The command that detaches `path`, for a helper that outlives us: see SandboxOptions::cleanup.
[[nodiscard]] std::vector<std::string> DetachCommand(const std::string& path);

}  // namespace tornfs::harness
