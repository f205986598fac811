// ACCESS: asked only while the kernel does not check mode bits itself, which is when everybody is
// root (server.h, check_permissions).
#include <unistd.h>

#include "fusefs/fuse/change.h"
#include "fusefs/fuse/ops.h"
#include "fusefs/fuse/reply.h"

namespace tornfs {

void OpAccess(fuse_req_t req, fuse_ino_t node, int mask) {
  Serve(req, [&](MountContext& context) -> Reply {
    const auto fault = FaultOfUse(context, CallerOf(req), "access", NodeTable::InoOf(node));
    if (fault && fault->kind == Fault::Kind::kFail) return Errno{fault->error};
    context.Ask(req, {Question::Kind::kOwner, NodeTable::InoOf(node), 0, {}});
    const auto attributes = context.Stat(NodeTable::InoOf(node));
    if (!attributes) return attributes.error();
    constexpr mode_t kAnyExecute = S_IXUSR | S_IXGRP | S_IXOTH;
    const bool may_execute =
        S_ISDIR(attributes->st_mode) || (attributes->st_mode & kAnyExecute) != 0;
    return (mask & X_OK) != 0 && !may_execute ? Errno{EACCES} : kSuccess;
  });
}

}  // namespace tornfs
