// GETATTR.
#include "fusefs/fuse/ops.h"
#include "fusefs/fuse/reply.h"

namespace tornfs {

void OpGetattr(fuse_req_t req, fuse_ino_t node, fuse_file_info* /*file*/) {
  Serve(req, [&](MountContext& context) -> Reply {
    const Ino ino = NodeTable::InoOf(node);
    context.Ask(req, {Question::Kind::kAttributes, ino, 0, {}});
    const auto attributes = context.Stat(ino);
    if (!attributes) return attributes.error();
    return AttributesReply{ino, *attributes};
  });
}

}  // namespace tornfs
