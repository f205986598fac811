// SETATTR: truncate, chmod, chown and utimens. On the special files it succeeds without effect, so
// that a shell can redirect into them.
#include <algorithm>

#include "fusefs/fuse/change.h"
#include "fusefs/fuse/ops.h"
#include "fusefs/fuse/reply.h"

namespace tornfs {

namespace {

// Times that nanoseconds since 1970 cannot say, 292 years from then, become the nearest they can.
Nanoseconds FromTimespec(const timespec& time) {
  constexpr time_t kFurthest = 9'223'372'035;
  const time_t seconds = std::clamp<time_t>(time.tv_sec, -kFurthest, kFurthest);
  return static_cast<Nanoseconds>(seconds) * 1'000'000'000 + time.tv_nsec;
}

AttributeChange AttributesOf(const struct stat& wanted, int which) {
  AttributeChange change;
  if ((which & FUSE_SET_ATTR_MODE) != 0) change.mode = wanted.st_mode & 07777;
  if ((which & FUSE_SET_ATTR_UID) != 0) change.uid = wanted.st_uid;
  if ((which & FUSE_SET_ATTR_GID) != 0) change.gid = wanted.st_gid;
  if ((which & FUSE_SET_ATTR_ATIME) != 0) change.atime = FromTimespec(wanted.st_atim);
  if ((which & FUSE_SET_ATTR_MTIME) != 0) change.mtime = FromTimespec(wanted.st_mtim);
  if ((which & FUSE_SET_ATTR_ATIME_NOW) != 0) change.atime = kTimeOfOp;
  if ((which & FUSE_SET_ATTR_MTIME_NOW) != 0) change.mtime = kTimeOfOp;
  return change;
}

OpKind KindOf(const AttributeChange& change) {
  if (change.uid || change.gid) return OpKind::kChown;
  return change.mode ? OpKind::kChmod : OpKind::kUtimens;
}

Outcome<void> Set(MountContext& context, const Caller& caller, Ino ino, const struct stat& wanted,
                  int which) {
  if ((which & FUSE_SET_ATTR_SIZE) != 0) {
    const auto size = static_cast<std::uint64_t>(wanted.st_size);
    const auto done = Change(context, caller, {OpKind::kTruncate, ino},
                             [&] { return context.engine.Truncate(caller, ino, size); });
    if (!done) return done;
  }
  const AttributeChange change = AttributesOf(wanted, which);
  if (!change.mode && !change.uid && !change.gid && !change.atime && !change.mtime) return {};
  return Change(context, caller, {KindOf(change), ino},
                [&] { return context.engine.SetAttributes(caller, ino, change); });
}

}  // namespace

void OpSetattr(fuse_req_t req, fuse_ino_t node, struct stat* wanted, int which,
               fuse_file_info* /*file*/) {
  Serve(req, [&](MountContext& context) -> Reply {
    const Ino ino = NodeTable::InoOf(node);
    context.Ask(req, {Question::Kind::kAttributes, ino, 0, {}});
    if (!NodeTable::IsSpecial(ino)) {
      const auto done = Set(context, CallerOf(req), ino, *wanted, which);
      if (!done) return done.error();
    }
    const auto attributes = context.Stat(ino);
    if (!attributes) return attributes.error();
    return AttributesReply{ino, *attributes};
  });
}

}  // namespace tornfs
