// STATFS.
#include "fusefs/fuse/ops.h"
#include "fusefs/fuse/reply.h"

namespace tornfs {

void OpStatfs(fuse_req_t req, fuse_ino_t /*node*/) {
  Serve(req, [](MountContext& context) -> Reply { return StatFsReply{context.engine.StatFs()}; });
}

}  // namespace tornfs
