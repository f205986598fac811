// Engine: calls that bring inodes into being.
#include "fusefs/core/engine.h"

namespace tornfs {

Outcome<void> Engine::FreeName(Ino dir, std::string_view name) const {
  const auto inode = Directory(dir);
  if (!inode) return tl::make_unexpected(inode.error());
  if (name.empty() || name == "." || name == "..") return Refuse(EEXIST);
  if (name.size() > kMaxNameBytes) return Refuse(ENAMETOOLONG);
  if ((*inode)->links == 0) return Refuse(ENOENT);  // A directory that was removed.
  if ((*inode)->entries.Find(EntryKey::Of(name)) != nullptr) return Refuse(EEXIST);
  return {};
}

Outcome<Ino> Engine::AddInode(const Caller& caller, Ino dir, std::string_view name, Inode inode,
                              OpKind kind) {
  if (auto free = FreeName(dir, name); !free) return tl::make_unexpected(free.error());
  const Ino ino = next_ino_++;
  Change change = Begin(kind, caller, ino);
  inode.uid = caller.uid;
  inode.gid = caller.gid;
  inode.atime = inode.mtime = inode.ctime = change.op.time;
  // An entry implies its inode's initial state, so the inode is durable; only its name is not.
  durable_.Add(ino, inode);
  if (recording_) {
    recording_->births.push_back({change.op.number, ino, inode});
    change.op.to = inode.target;
  }
  current_.Add(ino, std::move(inode));
  if (frozen_) thawed_.insert(ino);
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

Outcome<Ino> Engine::MakeDirectory(const Caller& caller, Ino dir, std::string_view name,
                                   mode_t mode) {
  const auto parent = Directory(dir);
  if (parent && (*parent)->subdirectories >= kMaxLinks) return Refuse(EMLINK);
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
