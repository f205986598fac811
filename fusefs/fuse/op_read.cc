// READ: the reply points into the content store; nothing is copied in user space.
#include "fusefs/fuse/ops.h"
#include "fusefs/fuse/reply.h"

namespace tornfs {

void OpRead(fuse_req_t req, fuse_ino_t node, std::size_t size, off_t offset,
            fuse_file_info* /*file*/) {
  Serve(req, [&](MountContext& context) -> Reply {
    const Ino ino = NodeTable::InoOf(node);
    const auto begin = static_cast<std::uint64_t>(offset);
    if (NodeTable::IsSpecial(ino)) {
      context.Ask(req, {Question::Kind::kPage, ino, 0, {}});
      const std::string_view content = context.special.Content(ino);
      if (begin >= content.size()) return TextReply{};
      return TextReply{content.substr(begin, size)};
    }
    context.AskPages(req, ino, begin, size);
    context.pieces.clear();
    const auto length = context.engine.Read(ino, begin, size, context.pieces);
    if (!length) return length.error();
    return PiecesReply{context.pieces};
  });
}

}  // namespace tornfs
