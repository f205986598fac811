// The operations of a mount, one file each (op_NAME.cc), in the form libfuse calls them. They find
// their MountContext in the request; the node of a request is alive (session.h sees to that).
#pragma once

#include <cstddef>
#include <cstdint>

#include "fusefs/core/errno.h"
#include "fusefs/core/types.h"
#include "fusefs/fuse/lowlevel.h"
#include "fusefs/fuse/mount_context.h"

namespace tornfs {

void OpLookup(fuse_req_t req, fuse_ino_t parent, const char* name);
void OpForget(fuse_req_t req, fuse_ino_t node, std::uint64_t count);
void OpForgetMulti(fuse_req_t req, std::size_t count, fuse_forget_data* forgets);
void OpGetattr(fuse_req_t req, fuse_ino_t node, fuse_file_info* file);
void OpSetattr(fuse_req_t req, fuse_ino_t node, struct stat* wanted, int which,
               fuse_file_info* file);
void OpAccess(fuse_req_t req, fuse_ino_t node, int mask);

void OpCreate(fuse_req_t req, fuse_ino_t parent, const char* name, mode_t mode,
              fuse_file_info* file);
void OpMknod(fuse_req_t req, fuse_ino_t parent, const char* name, mode_t mode, dev_t device);
void OpMkdir(fuse_req_t req, fuse_ino_t parent, const char* name, mode_t mode);
void OpSymlink(fuse_req_t req, const char* target, fuse_ino_t parent, const char* name);
void OpLink(fuse_req_t req, fuse_ino_t node, fuse_ino_t parent, const char* name);
void OpUnlink(fuse_req_t req, fuse_ino_t parent, const char* name);
void OpRmdir(fuse_req_t req, fuse_ino_t parent, const char* name);
void OpRename(fuse_req_t req, fuse_ino_t parent, const char* name, fuse_ino_t new_parent,
              const char* new_name, unsigned flags);
void OpReadlink(fuse_req_t req, fuse_ino_t node);

void OpOpen(fuse_req_t req, fuse_ino_t node, fuse_file_info* file);
void OpRead(fuse_req_t req, fuse_ino_t node, std::size_t size, off_t offset, fuse_file_info* file);
void OpWrite(fuse_req_t req, fuse_ino_t node, const char* bytes, std::size_t size, off_t offset,
             fuse_file_info* file);
void OpFlush(fuse_req_t req, fuse_ino_t node, fuse_file_info* file);
void OpRelease(fuse_req_t req, fuse_ino_t node, fuse_file_info* file);
void OpFsync(fuse_req_t req, fuse_ino_t node, int data_only, fuse_file_info* file);
void OpFallocate(fuse_req_t req, fuse_ino_t node, int mode, off_t offset, off_t length,
                 fuse_file_info* file);
void OpCopyFileRange(fuse_req_t req, fuse_ino_t node_in, off_t offset_in, fuse_file_info* file_in,
                     fuse_ino_t node_out, off_t offset_out, fuse_file_info* file_out,
                     std::size_t length, int flags);
void OpLseek(fuse_req_t req, fuse_ino_t node, off_t offset, int whence, fuse_file_info* file);

void OpReaddir(fuse_req_t req, fuse_ino_t node, std::size_t size, off_t cookie,
               fuse_file_info* file);
void OpReaddirplus(fuse_req_t req, fuse_ino_t node, std::size_t size, off_t cookie,
                   fuse_file_info* file);
void OpFsyncdir(fuse_req_t req, fuse_ino_t node, int data_only, fuse_file_info* file);
void OpStatfs(fuse_req_t req, fuse_ino_t node);

void OpSetxattr(fuse_req_t req, fuse_ino_t node, const char* name, const char* value,
                std::size_t size, int flags);
void OpGetxattr(fuse_req_t req, fuse_ino_t node, const char* name, std::size_t size);
void OpListxattr(fuse_req_t req, fuse_ino_t node, std::size_t size);
void OpRemovexattr(fuse_req_t req, fuse_ino_t node, const char* name);
void OpIoctl(fuse_req_t req, fuse_ino_t node, unsigned command, void* argument,
             fuse_file_info* file, unsigned flags, const void* in, std::size_t in_size,
             std::size_t out_size);

// SYNCFS, which libfuse 3.14 does not know. Returns a positive errno, or 0.
[[nodiscard]] int PerformSyncfs(MountContext& context, pid_t pid);

// The answer to STATX, struct fuse_statx_out of newer kernels.
struct StatxOut {
  struct Time {
    std::int64_t seconds;
    std::uint32_t nanoseconds;
    std::int32_t reserved;
  };
  std::uint64_t valid_seconds;
  std::uint32_t valid_nanoseconds;
  std::uint32_t flags;
  std::uint64_t spare[2];
  std::uint32_t mask;
  std::uint32_t blksize;
  std::uint64_t attributes;
  std::uint32_t nlink;
  std::uint32_t uid;
  std::uint32_t gid;
  std::uint16_t mode;
  std::uint16_t spare0;
  std::uint64_t ino;
  std::uint64_t size;
  std::uint64_t blocks;
  std::uint64_t attributes_mask;
  Time atime;
  Time btime;
  Time ctime;
  Time mtime;
  std::uint32_t rdev_major;
  std::uint32_t rdev_minor;
  std::uint32_t dev_major;
  std::uint32_t dev_minor;
  std::uint64_t spare2[14];
};
static_assert(sizeof(StatxOut) == 32 + 256);
// Errors: ENOENT.
[[nodiscard]] Outcome<StatxOut> PerformStatx(MountContext& context, Ino ino);

}  // namespace tornfs
