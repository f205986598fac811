// What an inode starts with: the owner is the caller, and below a directory with the set-group-id
// bit the group is the directory's and new directories get the bit too. The kernel leaves this to
// the filesystem.
#pragma once

#include <sys/stat.h>

#include "fusefs/core/types.h"
#include "fusefs/fuse/mount_context.h"

namespace tornfs {

struct NewInode {
  Caller caller;  // With the group the inode gets.
  mode_t mode = 0;
};

[[nodiscard]] inline NewInode NewInodeIn(const MountContext& context, const Caller& caller, Ino dir,
                                         mode_t mode) {
  NewInode made{caller, mode};
  const Inode* parent = context.engine.current().Find(dir);
  if (parent == nullptr || (parent->mode & S_ISGID) == 0) return made;
  made.caller.gid = parent->gid;
  if (S_ISDIR(mode)) made.mode |= S_ISGID;
  return made;
}

// Notes what the outcome of making `name` in `dir` depends on: the name, the directory's group and
// mode, and the number that the new inode gets.
inline void AskNewInode(MountContext& context, fuse_req_t req, Ino dir, const char* name) {
  context.Ask(req, {Question::Kind::kLookup, dir, 0, name});
  context.Ask(req, {Question::Kind::kOwner, dir, 0, {}});
  context.Ask(req, {Question::Kind::kXattrs, dir, 0, {}});  // Its default ACL.
  context.Ask(req, {Question::Kind::kNextIno, kNoIno, 0, {}});
}

}  // namespace tornfs
