// The operations of a mount, one file each (op_NAME.cc), in the form libfuse calls them. They find
// their MountContext in the request; the node of a request is alive (session.h sees to that).
#pragma once

#include <cstddef>
#include <cstdint>

#include "fusefs/fuse/lowlevel.h"

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

// SYNCFS, which libfuse 3.14 does not know. Returns a positive errno, or 0.
[[nodiscard]] int PerformSyncfs(struct MountContext& context, pid_t pid);

}  // namespace tornfs
