// UNLINK.
#include "fusefs/fuse/change.h"
#include "fusefs/fuse/ops.h"
#include "fusefs/fuse/reply.h"

namespace tornfs {

void OpUnlink(fuse_req_t req, fuse_ino_t parent, const char* name) {
  Serve(req, [&](MountContext& context) -> Reply {
    const Ino dir = NodeTable::InoOf(parent);
    if (IsReserved(dir, name)) return Errno{EPERM};
    context.Ask(req, {Question::Kind::kName, dir, 0, name});
    const Caller caller = CallerOf(req);
    return ReplyOf(Change(context, caller, {OpKind::kUnlink, dir, name},
                          [&] { return context.engine.Unlink(caller, dir, name); }));
  });
}

}  // namespace tornfs
