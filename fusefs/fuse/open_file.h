// What OPEN and CREATE share.
#pragma once

#include "fusefs/core/errno.h"
#include "fusefs/core/types.h"
#include "fusefs/fuse/lowlevel.h"
#include "fusefs/fuse/mount_context.h"

namespace tornfs {

// `file` with the answer for an ordinary file: cached pages stay good, and close(2) asks nothing.
[[nodiscard]] fuse_file_info CachedFile(const fuse_file_info& file);

// Opens `ino` with file.flags; O_TRUNC truncates. Returns `file` with the answer.
[[nodiscard]] Outcome<fuse_file_info> OpenFileOf(MountContext& context, fuse_req_t req, Ino ino,
                                                 const fuse_file_info& file);

}  // namespace tornfs
