#include "fusefs/core/types.h"

#include <array>

namespace tornfs {

std::string_view OpKindName(OpKind kind) {
  static constexpr std::array<std::string_view, kOpKinds> kNames{
      "create",          "mknod",  "mkdir",    "symlink",     "link",     "unlink",
      "rmdir",           "rename", "write",    "writeback",   "truncate", "fallocate",
      "copy_file_range", "chmod",  "chown",    "utimens",     "fsync",    "fdatasync",
      "fsyncdir",        "syncfs", "setxattr", "removexattr", "setflags", "tmpfile"};
  return kNames[static_cast<std::size_t>(kind)];
}

bool IsBarrier(OpKind kind) { return kind >= OpKind::kFsync && kind <= OpKind::kSyncfs; }

}  // namespace tornfs
