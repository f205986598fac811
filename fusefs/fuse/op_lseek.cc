// LSEEK: SEEK_DATA and SEEK_HOLE; the kernel does the rest by itself.
#include <unistd.h>

#include "fusefs/fuse/ops.h"
#include "fusefs/fuse/reply.h"

namespace tornfs {

void OpLseek(fuse_req_t req, fuse_ino_t node, off_t offset, int whence, fuse_file_info* /*file*/) {
  Serve(req, [&](MountContext& context) -> Reply {
    const Ino ino = NodeTable::InoOf(node);
    const auto begin = static_cast<std::uint64_t>(offset);
    if (NodeTable::IsSpecial(ino)) {
      const std::uint64_t size = context.special.Content(ino).size();
      if (begin >= size) return Errno{ENXIO};
      return OffsetReply{whence == SEEK_DATA ? begin : size};
    }
    const auto kind = whence == SEEK_DATA ? Question::Kind::kNextData : Question::Kind::kNextHole;
    context.Ask(req, {Question::Kind::kSize, ino, 0, {}});
    context.Ask(req, {kind, ino, begin, {}});
    const auto found = context.engine.Seek(ino, begin, whence);
    if (!found) return found.error();
    return OffsetReply{*found};
  });
}

}  // namespace tornfs
