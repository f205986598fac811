// Engine: modes, owners, times and flags.
#include <fcntl.h>
#include <linux/fs.h>

#include "fusefs/core/engine.h"
#include "fusefs/core/posix_acl.h"

namespace tornfs {
namespace {

// As tmpfs.
constexpr std::uint32_t kSettableFlags =
    FS_IMMUTABLE_FL | FS_APPEND_FL | FS_NODUMP_FL | FS_NOATIME_FL;

bool Has(const Inode& inode, std::uint32_t flags) { return (inode.flags & flags) != 0; }

}  // namespace

Outcome<void> Engine::MayChange(const Inode& inode) {
  if (Has(inode, FS_IMMUTABLE_FL | FS_APPEND_FL)) return Refuse(EPERM);
  return {};
}

Outcome<void> Engine::MayRemove(const Inode& dir, Ino child) const {
  if (auto may = MayChange(dir); !may) return may;
  return MayChange(*current_.Find(child));
}

Outcome<void> Engine::MayOpen(Ino ino, int flags) const {
  const Inode* inode = current_.Find(ino);
  if (inode == nullptr) return Refuse(ENOENT);
  const bool writes = (flags & O_ACCMODE) != O_RDONLY;
  if (writes && Has(*inode, FS_IMMUTABLE_FL)) return Refuse(EPERM);
  if (!Has(*inode, FS_APPEND_FL)) return {};
  if ((flags & O_TRUNC) != 0 || (writes && (flags & O_APPEND) == 0)) return Refuse(EPERM);
  return {};
}

Outcome<std::uint32_t> Engine::Flags(Ino ino) const {
  const Inode* inode = current_.Find(ino);
  if (inode == nullptr) return Refuse(ENOENT);
  return inode->flags;
}

Outcome<void> Engine::SetFlags(const Caller& caller, Ino ino, std::uint32_t flags) {
  const Inode* inode = current_.Find(ino);
  if (inode == nullptr) return Refuse(ENOENT);
  if ((flags & ~kSettableFlags) != 0) return Refuse(EOPNOTSUPP);
  Change change = Begin(OpKind::kSetflags, caller, ino);
  MakeValue(change, CellKind::kFlags, ino, flags);
  Commit(std::move(change));
  return {};
}

Outcome<void> Engine::SetAttributes(const Caller& caller, Ino ino, const AttributeChange& wanted) {
  const Inode* inode = current_.Find(ino);
  if (inode == nullptr) return Refuse(ENOENT);
  if (Has(*inode, FS_IMMUTABLE_FL)) return Refuse(EPERM);
  const auto set = [](const std::optional<Nanoseconds>& time) {
    return time.has_value() && *time != kTimeOfOp;
  };
  if (Has(*inode, FS_APPEND_FL) &&
      (wanted.mode || wanted.uid || wanted.gid || set(wanted.atime) || set(wanted.mtime))) {
    return Refuse(EPERM);
  }
  const bool times = wanted.atime || wanted.mtime;
  const OpKind kind = wanted.uid || wanted.gid ? OpKind::kChown
                      : wanted.mode            ? OpKind::kChmod
                      : times                  ? OpKind::kUtimens
                                               : OpKind::kChown;
  Change change = Begin(kind, caller, ino);
  if (kind == OpKind::kChown) ClearPrivileges(change, ino, caller, true);
  if (wanted.mode) {
    const mode_t mode = *wanted.mode & 07777;
    const auto* acl = current_.Find(ino)->xattrs.Find(kAccessAcl);
    auto list = acl == nullptr ? Outcome<PosixAcl>(PosixAcl()) : PosixAcl::Parse(**acl);
    const GroupTag group = list && !list->empty() ? GroupTag::kAcl : GroupTag::kAlone;
    MakeValue(change, CellKind::kMode, ino, mode, group);
    if (group == GroupTag::kAcl) {
      list->SetMode(mode);
      MakeXattr(change, ino, kAccessAcl, list->Value(), group);
    }
  }
  if (wanted.uid) MakeValue(change, CellKind::kUid, ino, *wanted.uid);
  if (wanted.gid) MakeValue(change, CellKind::kGid, ino, *wanted.gid);
  const Nanoseconds now = change.op.time;
  Commit(std::move(change));
  Thaw(ino);
  InBothTrees(ino, [&](Inode& each) {
    if (wanted.atime) each.atime = *wanted.atime == kTimeOfOp ? now : *wanted.atime;
    if (wanted.mtime) each.mtime = *wanted.mtime == kTimeOfOp ? now : *wanted.mtime;
    each.ctime = now;
  });
  return {};
}

}  // namespace tornfs
