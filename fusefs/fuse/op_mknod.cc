// MKNOD: regular files, fifos, sockets, devices.
#include "fusefs/fuse/change.h"
#include "fusefs/fuse/new_inode.h"
#include "fusefs/fuse/ops.h"
#include "fusefs/fuse/reply.h"

namespace tornfs {

void OpMknod(fuse_req_t req, fuse_ino_t parent, const char* name, mode_t mode, dev_t device) {
  Serve(req, [&](MountContext& context) -> Reply {
    const Ino dir = NodeTable::InoOf(parent);
    if (IsReserved(dir, name)) return Errno{EPERM};
    AskNewInode(context, req, dir, name);
    const NewInode made = NewInodeIn(context, CallerOf(req), dir, mode);
    const auto ino = Change(context, made.caller, {OpKind::kMknod, dir, name}, [&] {
      return context.engine.MakeNode(made.caller, dir, name, made.mode, device, OpKind::kMknod);
    });
    if (!ino) return ino.error();
    return EntryOf(context, *ino);
  });
}

}  // namespace tornfs
