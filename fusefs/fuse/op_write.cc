// WRITE: of a write(2), whose parts are joined again (write_joiner.h), or of pages of a shared
// mapping that the kernel writes back.
#include <span>

#include "fusefs/fuse/change.h"
#include "fusefs/fuse/harmed_data.h"
#include "fusefs/fuse/ops.h"
#include "fusefs/fuse/reply.h"

namespace tornfs {

namespace {

Outcome<void> WriteBack(MountContext& context, const Caller& caller, const WriteJoiner::Part& part,
                        std::span<const std::byte> data) {
  return Change(context, caller, {OpKind::kWriteback, part.ino},
                [&] { return context.engine.WriteBack(caller, part.ino, part.offset, data); });
}

// Returns how many bytes the program is told were written.
Outcome<std::uint64_t> WritePart(MountContext& context, const Caller& caller,
                                 const WriteJoiner::Part& part, std::span<const std::byte> data) {
  const WriteJoiner::Verdict verdict = context.joiner.Judge(part, context.engine.next_op());
  Intent intent{OpKind::kWrite, part.ino};
  intent.starts = !verdict.joins;
  intent.ends = verdict.completes;
  const auto fault = FaultOf(context, caller, intent);
  if (const auto end = EndsRequest(context, intent, fault); end && !*end) {
    context.joiner.Reset();
    return tl::make_unexpected(end->error());
  }
  const HarmedWrite harmed(part.offset, data, fault);
  if (harmed.is_short()) intent.ends = true;  // The kernel ends the write(2) here.
  const auto done = ChangeUnharmed(context, caller, intent, [&] {
    return context.engine.Write(caller, part.ino, harmed.offset(), harmed.bytes(), verdict.joins);
  });
  if (!done || harmed.is_short()) {
    context.joiner.Reset();
    if (!done) return tl::make_unexpected(done.error());
    return harmed.bytes().size();
  }
  if (verdict.joins) ++context.counters.joined_parts;
  context.joiner.Performed(part, verdict, context.engine.next_op());
  return data.size();
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
    const Caller caller = CallerOn(req, ino);
    const WriteJoiner::Part part{ino, caller.pid, static_cast<std::uint64_t>(offset), size};
    if (file->writepage != 0) {
      const auto done = WriteBack(context, caller, part, data);
      if (!done) return done.error();
      return CountReply{size};
    }
    const auto written = WritePart(context, caller, part, data);
    if (!written) return written.error();
    return CountReply{*written};
  });
}

}  // namespace tornfs
