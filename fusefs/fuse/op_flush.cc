// FLUSH: comes only with close(2) of handles opened without FOPEN_NOFLUSH, and changes nothing.
#include "fusefs/fuse/ops.h"
#include "fusefs/fuse/reply.h"

namespace tornfs {

void OpFlush(fuse_req_t req, fuse_ino_t /*node*/, fuse_file_info* /*file*/) {
  Serve(req, [](MountContext&) -> Reply { return kSuccess; });
}

}  // namespace tornfs
