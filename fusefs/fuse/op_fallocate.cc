// FALLOCATE.
#include "fusefs/fuse/change.h"
#include "fusefs/fuse/ops.h"
#include "fusefs/fuse/reply.h"

namespace tornfs {

void OpFallocate(fuse_req_t req, fuse_ino_t node, int mode, off_t offset, off_t length,
                 fuse_file_info* /*file*/) {
  Serve(req, [&](MountContext& context) -> Reply {
    const Ino ino = NodeTable::InoOf(node);
    if (NodeTable::IsSpecial(ino)) return Errno{EOPNOTSUPP};
    context.Ask(req, {Question::Kind::kSize, ino, 0, {}});
    const Caller caller = CallerOn(req, ino);
    return ReplyOf(Change(context, caller, {OpKind::kFallocate, ino}, [&] {
      return context.engine.Allocate(caller, ino, mode, static_cast<std::uint64_t>(offset),
                                     static_cast<std::uint64_t>(length));
    }));
  });
}

}  // namespace tornfs
