// RMDIR.
#include "fusefs/fuse/change.h"
#include "fusefs/fuse/ops.h"
#include "fusefs/fuse/reply.h"

namespace tornfs {

void OpRmdir(fuse_req_t req, fuse_ino_t parent, const char* name) {
  Serve(req, [&](MountContext& context) -> Reply {
    const Ino dir = NodeTable::InoOf(parent);
    if (IsReserved(dir, name)) return Errno{ENOTDIR};
    context.Ask(req, {Question::Kind::kName, dir, 0, name});
    if (const auto removed = context.engine.Lookup(dir, name)) {
      context.Ask(req, {Question::Kind::kNames, *removed, 0, {}});
    }
    const Caller caller = CallerOf(req);
    return ReplyOf(Change(context, caller, {OpKind::kRmdir, dir, name},
                          [&] { return context.engine.RemoveDirectory(caller, dir, name); }));
  });
}

}  // namespace tornfs
