// OPEN. Truncation by O_TRUNC is part of it.
#include "fusefs/fuse/open_file.h"
#include "fusefs/fuse/ops.h"
#include "fusefs/fuse/reply.h"

namespace tornfs {

void OpOpen(fuse_req_t req, fuse_ino_t node, fuse_file_info* file) {
  Serve(req, [&](MountContext& context) -> Reply {
    const Ino ino = NodeTable::InoOf(node);
    const Outcome<fuse_file_info> opened = OpenFileOf(context, req, ino, *file);
    if (!opened) return opened.error();
    return OpenReply{ino, *opened};
  });
}

}  // namespace tornfs
