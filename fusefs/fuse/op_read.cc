// READ: the reply points into the content store; nothing is copied in user space.
#include "fusefs/fuse/change.h"
#include "fusefs/fuse/harmed_data.h"
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
    const auto fault = FaultOfUse(context, CallerOf(req), "read", ino);
    if (fault && fault->kind == Fault::Kind::kFail) return Errno{fault->error};
    context.AskPages(req, ino, begin, size);
    context.pieces.clear();
    const auto length = context.engine.Read(ino, begin, size, context.pieces);
    if (!length) return length.error();
    if (fault) return TextReply{HarmedRead(context, *fault)};
    return PiecesReply{context.pieces};
  });
}

}  // namespace tornfs
