// WRITE: of a write(2), whose parts are joined again (write_joiner.h), or of pages of a shared
// mapping that the kernel writes back.
#include <span>

#include "fusefs/fuse/change.h"
#include "fusefs/fuse/ops.h"
#include "fusefs/fuse/reply.h"

namespace tornfs {

namespace {

Outcome<void> WriteBack(MountContext& context, const Caller& caller, const WriteJoiner::Part& part,
                        std::span<const std::byte> data) {
  return Change(context, caller, {OpKind::kWriteback, part.ino},
                [&] { return context.engine.WriteBack(caller, part.ino, part.offset, data); });
}

Outcome<void> WritePart(MountContext& context, const Caller& caller, const WriteJoiner::Part& part,
                        std::span<const std::byte> data) {
  const WriteJoiner::Verdict verdict = context.joiner.Judge(part, context.engine.next_op());
  Intent intent{OpKind::kWrite, part.ino};
  intent.starts = !verdict.joins;
  intent.ends = verdict.completes;
  const auto done = Change(context, caller, intent, [&] {
    return context.engine.Write(caller, part.ino, part.offset, data, verdict.joins);
  });
  if (!done) {
    context.joiner.Reset();
    return done;
  }
  if (verdict.joins) ++context.counters.joined_parts;
  context.joiner.Performed(part, verdict, context.engine.next_op());
  return {};
}

}  // namespace

void OpWrite(fuse_req_t req, fuse_ino_t node, const char* bytes, std::size_t size, off_t offset,
             fuse_file_info* file) {
  Serve(req, [&](MountContext& context) -> Reply {
    const Ino ino = NodeTable::InoOf(node);
    const std::span data(reinterpret_cast<const std::byte*>(bytes), size);
    if (NodeTable::IsSpecial(ino)) {
      if (context.quiesced) return Errno{EIO};
      context.special.Append(context.engine, data);
      return CountReply{size};
    }
    context.Ask(req, {Question::Kind::kSize, ino, 0, {}});
    context.Ask(req, {Question::Kind::kXattrs, ino, 0, {}});  // security.capability goes.
    const Caller caller = CallerOf(req);
    const WriteJoiner::Part part{ino, caller.pid, static_cast<std::uint64_t>(offset), size};
    const auto done = file->writepage != 0 ? WriteBack(context, caller, part, data)
                                           : WritePart(context, caller, part, data);
    if (!done) return done.error();
    return CountReply{size};
  });
}

}  // namespace tornfs
