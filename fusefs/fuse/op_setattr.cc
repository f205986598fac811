// SETATTR: truncate, chmod, chown and utimens. On the special files it succeeds without effect, so
// that a shell can redirect into them.
#include <algorithm>

#include "fusefs/core/set_id.h"
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
  if (change.mode) return OpKind::kChmod;
  return change.atime || change.mtime ? OpKind::kUtimens : OpKind::kChown;
}

// A request that changes nothing is chown(-1, -1), which takes set-id bits, or it comes before a
// write(2) that takes them. Where the caller does not own the file it can only be the latter, and
// the write says so itself.
bool IsChownToNothing(const MountContext& context, const Caller& caller, Ino ino, int which) {
  if ((which & FUSE_SET_ATTR_SIZE) != 0) return false;
  const Inode* inode = context.engine.current().Find(ino);
  if (inode == nullptr || caller.uid == 0 || caller.uid == inode->uid) return true;
  return WithoutSetId(inode->mode, caller) == inode->mode;
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
  const bool nothing = !change.mode && !change.uid && !change.gid && !change.atime && !change.mtime;
  if (nothing && !IsChownToNothing(context, caller, ino, which)) return {};
  return Change(context, caller, {KindOf(change), ino},
                [&] { return context.engine.SetAttributes(caller, ino, change); });
}

}  // namespace

void OpSetattr(fuse_req_t req, fuse_ino_t node, struct stat* wanted, int which,
               fuse_file_info* /*file*/) {
  Serve(req, [&](MountContext& context) -> Reply {
    const Ino ino = NodeTable::InoOf(node);
    context.Ask(req, {Question::Kind::kAttributes, ino, 0, {}});
    context.Ask(req, {Question::Kind::kXattrs, ino, 0, {}});  // An ACL goes with the mode.
    if (!NodeTable::IsSpecial(ino)) {
      const auto done = Set(context, CallerOn(req, ino), ino, *wanted, which);
      if (!done) return done.error();
    }
    const auto attributes = context.Stat(ino);
    if (!attributes) return attributes.error();
    return AttributesReply{ino, *attributes};
  });
}

}  // namespace tornfs
