// FSYNCDIR: fsync and fdatasync of a directory.
#include "fusefs/fuse/change.h"
#include "fusefs/fuse/ops.h"
#include "fusefs/fuse/reply.h"

namespace tornfs {

void OpFsyncdir(fuse_req_t req, fuse_ino_t node, int /*data_only*/, fuse_file_info* /*file*/) {
  Serve(req, [&](MountContext& context) -> Reply {
    const Ino ino = NodeTable::InoOf(node);
    const Caller caller = CallerOf(req);
    return ReplyOf(Change(context, caller, {OpKind::kFsyncdir, ino},
                          [&] { return context.engine.Barrier(caller, OpKind::kFsyncdir, ino); }));
  });
}

}  // namespace tornfs
