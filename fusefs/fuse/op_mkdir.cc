// MKDIR.
#include "fusefs/fuse/change.h"
#include "fusefs/fuse/new_inode.h"
#include "fusefs/fuse/ops.h"
#include "fusefs/fuse/reply.h"

namespace tornfs {

void OpMkdir(fuse_req_t req, fuse_ino_t parent, const char* name, mode_t mode) {
  Serve(req, [&](MountContext& context) -> Reply {
    const Ino dir = NodeTable::InoOf(parent);
    if (IsReserved(dir, name)) return Errno{EPERM};
    AskNewInode(context, req, dir, name);
    const NewInode made = NewInodeIn(context, CallerOf(req), dir, S_IFDIR | (mode & 07777));
    const auto ino = Change(context, made.caller, {OpKind::kMkdir, dir, name}, [&] {
      return context.engine.MakeDirectory(made.caller, dir, name, made.mode);
    });
    if (!ino) return ino.error();
    return EntryOf(context, *ino);
  });
}

}  // namespace tornfs
