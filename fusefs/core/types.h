// The words of the engine: inode numbers, op kinds, who called, and when.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace tornfs {

// The serial number of an inode's creation; never reused, so an inode of a crash state is the inode
// the recording knew. Shown to programs as st_ino.
using Ino = std::uint64_t;
inline constexpr Ino kRootIno = 1;
inline constexpr Ino kNoIno = 0;

// The number of an op: 1 for the first the mount served, rising along one history, also through
// kills and into recovery.
using OpNumber = std::uint32_t;
inline constexpr OpNumber kNever = UINT32_MAX;

// Nanoseconds since 1970.
using Nanoseconds = std::int64_t;

inline constexpr std::uint64_t kPageBytes = 4096;
inline constexpr std::uint64_t kSectorBytes = 512;
inline constexpr std::uint64_t kMaxFileBytes = 1ULL << 44;  // 16 TiB, as ext4 with 4 KiB blocks.
inline constexpr std::size_t kMaxNameBytes = 255;
inline constexpr std::uint32_t kMaxLinks = 65000;  // As ext4.

// Everything that changes state or makes it durable. The names (OpKindName) are those of the system
// calls; triggers and reports use them.
enum class OpKind : std::uint8_t {
  kCreate,
  kMknod,
  kMkdir,
  kSymlink,
  kLink,
  kUnlink,
  kRmdir,
  kRename,
  kWrite,
  kWriteback,  // Pages of a shared mapping, written by the kernel.
  kTruncate,
  kFallocate,
  kCopyRange,
  kChmod,
  kChown,
  kUtimens,
  kFsync,
  kFdatasync,
  kFsyncdir,
  kSyncfs,
  kSetxattr,
  kRemovexattr,
  kSetflags,  // FS_IOC_SETFLAGS.
  kTmpfile,   // An inode without a name: O_TMPFILE.
};
inline constexpr int kOpKinds = static_cast<int>(OpKind::kTmpfile) + 1;

[[nodiscard]] std::string_view OpKindName(OpKind kind);
[[nodiscard]] bool IsBarrier(OpKind kind);

// Who asks. Ids are those of the mount's namespaces.
struct Caller {
  uid_t uid = 0;
  gid_t gid = 0;
  pid_t pid = 0;  // The thread that made the call; 0 for the kernel's own writeback.
  mode_t umask = 0;
  // Without the right to keep them (CAP_FSETID): what it changes loses its set-id bits.
  bool clears_set_id = false;
  // Neither with that right nor in the group of the file that is changed: a set-group-id bit goes
  // also from a file that its group may not execute.
  bool foreign_group = false;
};

}  // namespace tornfs
