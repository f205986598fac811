// LOOKUP: a name in a directory. A missing name is an answer too, and remembered.
#include <string_view>

#include "fusefs/fuse/ops.h"
#include "fusefs/fuse/reply.h"

namespace tornfs {

void OpLookup(fuse_req_t req, fuse_ino_t parent, const char* name) {
  Serve(req, [&](MountContext& context) -> Reply {
    const Ino dir = NodeTable::InoOf(parent);
    context.RememberName(dir, name);
    if (const auto special = SpecialFiles::Find(dir, name)) {
      context.Ask(req, {Question::Kind::kAttributes, *special, 0, {}});
      return EntryOf(context, *special);
    }
    // A file handle (open_by_handle_at) is looked up as "." of any inode.
    if (std::string_view(name) == ".") {
      context.Ask(req, {Question::Kind::kAttributes, dir, 0, {}});
      return EntryOf(context, dir);
    }
    context.Ask(req, {Question::Kind::kLookup, dir, 0, name});
    const auto ino = context.engine.Lookup(dir, name);
    if (ino) return EntryOf(context, *ino);
    if (ino.error() == Errno{ENOENT}) return EntryReply{};
    return ino.error();
  });
}

}  // namespace tornfs
