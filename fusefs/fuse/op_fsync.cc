// FSYNC: fsync, fdatasync, msync, and the sync half of O_SYNC and O_DSYNC writes.
#include "fusefs/fuse/change.h"
#include "fusefs/fuse/ops.h"
#include "fusefs/fuse/reply.h"

namespace tornfs {

void OpFsync(fuse_req_t req, fuse_ino_t node, int data_only, fuse_file_info* /*file*/) {
  Serve(req, [&](MountContext& context) -> Reply {
    const Ino ino = NodeTable::InoOf(node);
    if (NodeTable::IsSpecial(ino)) return kSuccess;
    const Caller caller = CallerOf(req);
    const OpKind kind = data_only != 0 ? OpKind::kFdatasync : OpKind::kFsync;
    return ReplyOf(Change(context, caller, {kind, ino},
                          [&] { return context.engine.Barrier(caller, kind, ino); }));
  });
}

}  // namespace tornfs
