// SYMLINK.
#include "fusefs/fuse/change.h"
#include "fusefs/fuse/new_inode.h"
#include "fusefs/fuse/ops.h"
#include "fusefs/fuse/reply.h"

namespace tornfs {

void OpSymlink(fuse_req_t req, const char* target, fuse_ino_t parent, const char* name) {
  Serve(req, [&](MountContext& context) -> Reply {
    const Ino dir = NodeTable::InoOf(parent);
    if (IsReserved(dir, name)) return Errno{EPERM};
    AskNewInode(context, req, dir, name);
    const NewInode made = NewInodeIn(context, CallerOf(req), dir, S_IFLNK | 0777);
    const auto ino = Change(context, made.caller, {OpKind::kSymlink, dir, name}, [&] {
      return context.engine.MakeSymlink(made.caller, dir, name, target);
    });
    if (!ino) return ino.error();
    return EntryOf(context, *ino);
  });
}

}  // namespace tornfs
