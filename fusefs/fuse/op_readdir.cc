// READDIR and READDIRPLUS. Cookies are the engine's, so a listing goes on where it was whatever
// happens to the directory. An entry of READDIRPLUS counts as a lookup.
#include <string>

#include "fusefs/fuse/ops.h"
#include "fusefs/fuse/reply.h"

namespace tornfs {

namespace {

// Adds entries to context.buffer with `add`, which returns the bytes an entry takes, until one does
// not fit.
template <class Add>
Reply List(MountContext& context, Ino dir, std::uint64_t cookie, std::size_t size, Add&& add) {
  context.buffer.resize(size);
  std::size_t used = 0;
  std::string name;
  const auto done = context.engine.List(dir, cookie, [&](const ListedEntry& entry) {
    name.assign(entry.name);
    const std::size_t needs = add(context.buffer.data() + used, size - used, name.c_str(), entry);
    if (needs > size - used) return false;
    used += needs;
    return true;
  });
  if (!done) return done.error();
  return TextReply{{context.buffer.data(), used}};
}

}  // namespace

void OpReaddir(fuse_req_t req, fuse_ino_t node, std::size_t size, off_t cookie,
               fuse_file_info* /*file*/) {
  Serve(req, [&](MountContext& context) -> Reply {
    context.Ask(req, {Question::Kind::kNames, NodeTable::InoOf(node), 0, {}});
    const auto add = [&](char* at, std::size_t left, const char* name, const ListedEntry& entry) {
      struct stat attributes {};
      attributes.st_ino = entry.ino;
      attributes.st_mode = entry.type;
      return fuse_add_direntry(req, at, left, name, &attributes, static_cast<off_t>(entry.cookie));
    };
    return List(context, NodeTable::InoOf(node), static_cast<std::uint64_t>(cookie), size, add);
  });
}

void OpReaddirplus(fuse_req_t req, fuse_ino_t node, std::size_t size, off_t cookie,
                   fuse_file_info* /*file*/) {
  Serve(req, [&](MountContext& context) -> Reply {
    const auto add = [&](char* at, std::size_t left, const char* name, const ListedEntry& entry) {
      // "." and ".." are no lookups: the kernel wants no node for them.
      const bool counts = entry.name != "." && entry.name != "..";
      const auto attributes = context.engine.Stat(entry.ino);
      fuse_entry_param parameters{};
      if (counts && attributes) parameters = EntryParameters(context, {entry.ino, *attributes});
      parameters.attr.st_ino = entry.ino;
      parameters.attr.st_mode |= entry.type;
      const std::size_t needs = fuse_add_direntry_plus(req, at, left, name, &parameters,
                                                       static_cast<off_t>(entry.cookie));
      if (needs <= left && parameters.ino != 0) {
        context.nodes.Remember(entry.ino);
        context.RememberName(NodeTable::InoOf(node), entry.name);
      }
      return needs;
    };
    return List(context, NodeTable::InoOf(node), static_cast<std::uint64_t>(cookie), size, add);
  });
}

}  // namespace tornfs
