// RELEASE: the last descriptor and the last mapping of a handle are gone.
#include "fusefs/fuse/ops.h"
#include "fusefs/fuse/reply.h"

namespace tornfs {

void OpRelease(fuse_req_t req, fuse_ino_t node, fuse_file_info* file) {
  Serve(req, [&](MountContext& context) -> Reply {
    context.nodes.Close(NodeTable::InoOf(node), file->flags);
    return kSuccess;
  });
}

}  // namespace tornfs
