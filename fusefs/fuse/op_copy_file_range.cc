// COPY_FILE_RANGE.
#include "fusefs/fuse/change.h"
#include "fusefs/fuse/ops.h"
#include "fusefs/fuse/reply.h"

namespace tornfs {

void OpCopyFileRange(fuse_req_t req, fuse_ino_t node_in, off_t offset_in,
                     fuse_file_info* /*file_in*/, fuse_ino_t node_out, off_t offset_out,
                     fuse_file_info* /*file_out*/, std::size_t length, int flags) {
  Serve(req, [&](MountContext& context) -> Reply {
    const Ino from = NodeTable::InoOf(node_in);
    const auto to = context.Living(node_out);
    if (!to) return to.error();
    if (NodeTable::IsSpecial(from) || NodeTable::IsSpecial(*to)) return Errno{EOPNOTSUPP};
    if (flags != 0) return Errno{EINVAL};
    context.Ask(req, {Question::Kind::kSize, from, 0, {}});
    context.Ask(req, {Question::Kind::kSize, *to, 0, {}});
    context.AskPages(req, from, static_cast<std::uint64_t>(offset_in), length);
    const Caller caller = CallerOn(req, *to);
    const auto copied = Change(context, caller, {OpKind::kCopyRange, *to}, [&] {
      return context.engine.CopyRange(caller, from, static_cast<std::uint64_t>(offset_in), *to,
                                      static_cast<std::uint64_t>(offset_out), length);
    });
    if (!copied) return copied.error();
    return CountReply{*copied};
  });
}

}  // namespace tornfs
