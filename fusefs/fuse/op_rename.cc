// RENAME and RENAME2.
#include <stdio.h>

#include "fusefs/fuse/change.h"
#include "fusefs/fuse/ops.h"
#include "fusefs/fuse/reply.h"

namespace tornfs {

void OpRename(fuse_req_t req, fuse_ino_t parent, const char* name, fuse_ino_t new_parent,
              const char* new_name, unsigned flags) {
  Serve(req, [&](MountContext& context) -> Reply {
    const Ino dir = NodeTable::InoOf(parent);
    const auto new_dir = context.Living(new_parent);
    if (!new_dir) return new_dir.error();
    if (IsReserved(dir, name) || IsReserved(*new_dir, new_name)) return Errno{EPERM};
    context.Ask(req, {Question::Kind::kName, dir, 0, name});
    context.Ask(req, {Question::Kind::kName, *new_dir, 0, new_name});
    if ((flags & RENAME_WHITEOUT) != 0) context.Ask(req, {Question::Kind::kNextIno, kNoIno, 0, {}});
    const auto replaced = context.engine.Lookup(*new_dir, new_name);
    if (replaced && context.engine.current().Find(*replaced)->IsDirectory()) {
      context.Ask(req, {Question::Kind::kNames, *replaced, 0, {}});
    }
    const Caller caller = CallerOf(req);
    const Intent intent{OpKind::kRename, dir, name, *new_dir, new_name};
    return ReplyOf(Change(context, caller, intent, [&] {
      return context.engine.Rename(caller, dir, name, *new_dir, new_name, flags);
    }));
  });
}

}  // namespace tornfs
