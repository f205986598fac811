#include "fusefs/fuse/open_file.h"

#include <fcntl.h>

#include "fusefs/fuse/change.h"

namespace tornfs {

fuse_file_info CachedFile(const fuse_file_info& file) {
  fuse_file_info answer = file;
  answer.keep_cache = 1;
  answer.noflush = 1;
  return answer;
}

Outcome<fuse_file_info> OpenFileOf(MountContext& context, fuse_req_t req, Ino ino,
                                   const fuse_file_info& file) {
  if (NodeTable::IsSpecial(ino)) {
    context.Ask(req, {Question::Kind::kAttributes, ino, 0, {}});
    if (const auto may = context.special.Open(ino, file.flags); !may) {
      return tl::make_unexpected(may.error());
    }
    fuse_file_info answer = file;
    answer.noflush = 1;
    // Standard output goes to its end whatever the offset, which no page cache would understand.
    answer.direct_io = ino == NodeTable::kStdoutIno ? 1 : 0;
    return answer;
  }
  const Caller caller = CallerOn(req, ino);
  const auto fault = FaultOfUse(context, caller, "open", ino);
  if (fault && fault->kind == Fault::Kind::kFail) return Refuse(fault->error);
  if (const auto may = context.engine.MayOpen(ino, file.flags); !may) {
    return tl::make_unexpected(may.error());
  }
  if ((file.flags & O_TRUNC) != 0) {
    context.Ask(req, {Question::Kind::kSize, ino, 0, {}});
    context.Ask(req, {Question::Kind::kXattrs, ino, 0, {}});
    const auto done = Change(context, caller, {OpKind::kTruncate, ino},
                             [&] { return context.engine.Truncate(caller, ino, 0); });
    if (!done) return tl::make_unexpected(done.error());
  }
  return CachedFile(file);
}

}  // namespace tornfs
