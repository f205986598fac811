// Engine: calls that bring inodes into being.
#include <linux/fs.h>

#include "fusefs/core/engine.h"
#include "fusefs/core/posix_acl.h"

namespace tornfs {

Outcome<void> Engine::FreeName(Ino dir, std::string_view name) const {
  const auto inode = Directory(dir);
  if (!inode) return tl::make_unexpected(inode.error());
  if (name.empty() || name == "." || name == "..") return Refuse(EEXIST);
  if (name.size() > kMaxNameBytes) return Refuse(ENAMETOOLONG);
  if ((*inode)->links == 0) return Refuse(ENOENT);  // A directory that was removed.
  if ((*inode)->entries.Find(EntryKey::Of(name)) != nullptr) return Refuse(EEXIST);
  if (((*inode)->flags & FS_IMMUTABLE_FL) != 0) return Refuse(EPERM);
  return {};
}

void Engine::Endow(const Caller& caller, const Inode& dir, Inode& inode) const {
  inode.uid = caller.uid;
  inode.gid = caller.gid;
  inode.flags = dir.flags & (FS_NODUMP_FL | FS_NOATIME_FL);
  if (S_ISLNK(inode.mode)) return;
  const auto* inherited = dir.xattrs.Find(kDefaultAcl);
  auto acl = inherited == nullptr ? Outcome<PosixAcl>(PosixAcl()) : PosixAcl::Parse(**inherited);
  if (!acl || acl->empty()) {
    inode.mode &= ~(caller.umask & 0777);
    return;
  }
  inode.mode = (inode.mode & ~mode_t{0777}) | acl->Inherit(inode.mode & 0777);
  const auto set = [&](std::string_view name, std::string value) {
    inode.xattrs.Set(std::string(name), std::make_shared<const std::string>(std::move(value)));
  };
  if (!acl->IsMode()) set(kAccessAcl, acl->Value());
  if (inode.IsDirectory()) set(kDefaultAcl, **inherited);
}

Ino Engine::Bear(const Change& change, Inode inode) {
  const Ino ino = next_ino_++;
  inode.atime = inode.mtime = inode.ctime = inode.btime = change.op.time;
  // An entry implies its inode's initial state, so the inode is durable; only its name is not.
  durable_.Add(ino, inode);
  if (recording_) recording_->births.push_back({change.op.number, ino, inode});
  current_.Add(ino, std::move(inode));
  if (frozen_) thawed_.insert(ino);
  return ino;
}

Outcome<Ino> Engine::AddInode(const Caller& caller, Ino dir, std::string_view name, Inode inode,
                              OpKind kind) {
  if (auto free = FreeName(dir, name); !free) return tl::make_unexpected(free.error());
  if (!HasRoom()) return Refuse(ENOSPC);
  Endow(caller, *current_.Find(dir), inode);
  Change change = Begin(kind, caller, next_ino_);
  if (recording_) change.op.to = inode.target;
  const Ino ino = Bear(change, std::move(inode));
  MakeEntry(change, dir, name, ino);
  if (recording_) change.op.path = current_.PathOf(ino);
  Commit(std::move(change));
  return ino;
}

Outcome<Ino> Engine::MakeNode(const Caller& caller, Ino dir, std::string_view name, mode_t mode,
                              dev_t device, OpKind kind) {
  Inode inode;
  inode.mode = mode;
  inode.device = device;
  return AddInode(caller, dir, name, std::move(inode), kind);
}

Outcome<Ino> Engine::MakeUnnamed(const Caller& caller, Ino dir, mode_t mode) {
  const auto parent = Directory(dir);
  if (!parent) return tl::make_unexpected(parent.error());
  if ((*parent)->links == 0 || ((*parent)->flags & FS_IMMUTABLE_FL) != 0) return Refuse(EPERM);
  Inode inode;
  inode.mode = S_IFREG | (mode & 07777);
  Endow(caller, **parent, inode);
  Change change = Begin(OpKind::kTmpfile, caller, next_ino_);
  if (recording_) change.op.path = current_.PathOf(dir);
  const Ino ino = Bear(change, std::move(inode));
  Commit(std::move(change));
  return ino;
}

Outcome<Ino> Engine::MakeDirectory(const Caller& caller, Ino dir, std::string_view name,
                                   mode_t mode) {
  Inode inode;
  inode.mode = S_IFDIR | (mode & 07777);
  inode.parent = dir;
  return AddInode(caller, dir, name, std::move(inode), OpKind::kMkdir);
}

Outcome<Ino> Engine::MakeSymlink(const Caller& caller, Ino dir, std::string_view name,
                                 std::string_view target) {
  if (target.empty()) return Refuse(ENOENT);
  if (target.size() >= kPageBytes) return Refuse(ENAMETOOLONG);
  Inode inode;
  inode.mode = S_IFLNK | 0777;
  inode.target = target;
  return AddInode(caller, dir, name, std::move(inode), OpKind::kSymlink);
}

}  // namespace tornfs
