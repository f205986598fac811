// SETXATTR, GETXATTR, LISTXATTR, REMOVEXATTR. The special files have no attributes.
#include <string>

#include "fusefs/fuse/change.h"
#include "fusefs/fuse/ops.h"
#include "fusefs/fuse/reply.h"

namespace tornfs {

namespace {

// `size` is the room that the caller has; 0 asks how much it takes.
Reply Sized(std::string_view value, std::size_t size) {
  if (size == 0) return SizeReply{value.size()};
  if (value.size() > size) return Errno{ERANGE};
  return TextReply{value};
}

}  // namespace

void OpSetxattr(fuse_req_t req, fuse_ino_t node, const char* name, const char* value,
                std::size_t size, int flags) {
  Serve(req, [&](MountContext& context) -> Reply {
    const Ino ino = NodeTable::InoOf(node);
    if (NodeTable::IsSpecial(ino)) return Errno{EOPNOTSUPP};
    context.Ask(req, {Question::Kind::kXattrs, ino, 0, {}});
    const Caller caller = CallerOf(req);
    return ReplyOf(Change(context, caller, {OpKind::kSetxattr, ino}, [&] {
      return context.engine.SetXattr(caller, ino, name, {value, size}, flags);
    }));
  });
}

void OpGetxattr(fuse_req_t req, fuse_ino_t node, const char* name, std::size_t size) {
  Serve(req, [&](MountContext& context) -> Reply {
    const Ino ino = NodeTable::InoOf(node);
    if (NodeTable::IsSpecial(ino)) return Errno{ENODATA};
    context.Ask(req, {Question::Kind::kXattrs, ino, 0, {}});
    const auto value = context.engine.GetXattr(ino, name);
    if (!value) return value.error();
    return Sized(*value, size);
  });
}

void OpListxattr(fuse_req_t req, fuse_ino_t node, std::size_t size) {
  Serve(req, [&](MountContext& context) -> Reply {
    const Ino ino = NodeTable::InoOf(node);
    if (NodeTable::IsSpecial(ino)) return SizeReply{0};
    context.Ask(req, {Question::Kind::kXattrs, ino, 0, {}});
    const auto names = context.engine.ListXattrs(ino, CallerOf(req).uid == 0);
    if (!names) return names.error();
    context.buffer.assign(names->begin(), names->end());
    return Sized({context.buffer.data(), context.buffer.size()}, size);
  });
}

void OpRemovexattr(fuse_req_t req, fuse_ino_t node, const char* name) {
  Serve(req, [&](MountContext& context) -> Reply {
    const Ino ino = NodeTable::InoOf(node);
    if (NodeTable::IsSpecial(ino)) return Errno{ENODATA};
    context.Ask(req, {Question::Kind::kXattrs, ino, 0, {}});
    const Caller caller = CallerOf(req);
    return ReplyOf(Change(context, caller, {OpKind::kRemovexattr, ino},
                          [&] { return context.engine.RemoveXattr(caller, ino, name); }));
  });
}

}  // namespace tornfs
