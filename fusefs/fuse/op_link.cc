// LINK: one more name for an inode.
#include "fusefs/fuse/change.h"
#include "fusefs/fuse/ops.h"
#include "fusefs/fuse/reply.h"

namespace tornfs {

void OpLink(fuse_req_t req, fuse_ino_t node, fuse_ino_t parent, const char* name) {
  Serve(req, [&](MountContext& context) -> Reply {
    const Ino dir = NodeTable::InoOf(parent);
    const auto ino = context.Living(node);  // The header of a LINK names the directory.
    if (!ino) return ino.error();
    if (NodeTable::IsSpecial(*ino) || IsReserved(dir, name)) return Errno{EPERM};
    context.Ask(req, {Question::Kind::kName, dir, 0, name});
    context.Ask(req, {Question::Kind::kAttributes, *ino, 0, {}});
    const Caller caller = CallerOf(req);
    const Intent intent{OpKind::kLink, *ino, {}, dir, name};
    const auto done = Change(context, caller, intent,
                             [&] { return context.engine.Link(caller, *ino, dir, name); });
    if (!done) return done.error();
    return EntryOf(context, *ino);
  });
}

}  // namespace tornfs
