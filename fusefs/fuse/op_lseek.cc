// LSEEK: SEEK_DATA and SEEK_HOLE; the kernel does the rest by itself.
//
// Where a store through a shared mapping has turned a hole into data, the kernel knows and this
// process does not. So while the file could be mapped, its pages are written back first; the
// answer waits for that, and the loop goes on.
#include <unistd.h>

#include "fusefs/fuse/ops.h"
#include "fusefs/fuse/reply.h"

namespace tornfs {

namespace {

Reply Seek(MountContext& context, fuse_req_t req, fuse_ino_t node, std::uint64_t begin,
           int whence) {
  const auto ino = context.Living(node);
  if (!ino) return ino.error();
  if (NodeTable::IsSpecial(*ino)) {
    const std::uint64_t size = context.special.Content(*ino).size();
    if (begin >= size) return Errno{ENXIO};
    return OffsetReply{whence == SEEK_DATA ? begin : size};
  }
  const auto kind = whence == SEEK_DATA ? Question::Kind::kNextData : Question::Kind::kNextHole;
  context.Ask(req, {Question::Kind::kSize, *ino, 0, {}});
  context.Ask(req, {kind, *ino, begin, {}});
  const auto found = context.engine.Seek(*ino, begin, whence);
  if (!found) return found.error();
  return OffsetReply{*found};
}

}  // namespace

void OpLseek(fuse_req_t req, fuse_ino_t node, off_t offset, int whence, fuse_file_info* /*file*/) {
  auto& mount = *static_cast<MountContext*>(fuse_req_userdata(req));
  const auto answer = [=] {
    Serve(req, [=](MountContext& context) {
      return Seek(context, req, node, static_cast<std::uint64_t>(offset), whence);
    });
  };
  if (!mount.nodes.MayBeMapped(NodeTable::InoOf(node))) return answer();
  mount.pull_node(node, answer);
}

}  // namespace tornfs
