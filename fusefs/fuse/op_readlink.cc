// READLINK.
#include "fusefs/fuse/ops.h"
#include "fusefs/fuse/reply.h"

namespace tornfs {

void OpReadlink(fuse_req_t req, fuse_ino_t node) {
  Serve(req, [&](MountContext& context) -> Reply {
    context.Ask(req, {Question::Kind::kTarget, NodeTable::InoOf(node), 0, {}});
    const auto target = context.engine.ReadLink(NodeTable::InoOf(node));
    if (!target) return target.error();
    return TextReply{*target};
  });
}

}  // namespace tornfs
