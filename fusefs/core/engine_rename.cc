// Engine: rename and its flags.
#include <linux/fs.h>
#include <stdio.h>

#include "fusefs/core/engine.h"

namespace tornfs {

Outcome<void> Engine::MayReplace(const Entry& moved, const Entry& replaced) const {
  const bool moves_directory = S_ISDIR(moved.type);
  if (moves_directory && !S_ISDIR(replaced.type)) return Refuse(ENOTDIR);
  if (!moves_directory && S_ISDIR(replaced.type)) return Refuse(EISDIR);
  if (moves_directory && !current_.Find(replaced.ino)->entries.empty()) return Refuse(ENOTEMPTY);
  return {};
}

// Follows `..` from `from` to the root. In a tree that a crash left a walk may come back to where
// it was.
bool Engine::IsAbove(Ino dir, Ino from) const {
  for (std::size_t steps = 0; steps <= current_.inodes(); ++steps) {
    if (from == dir) return true;
    const Inode* inode = current_.Find(from);
    if (from == kRootIno || inode == nullptr) return false;
    from = inode->parent;
  }
  return true;
}

Outcome<void> Engine::Rename(const Caller& caller, Ino dir, std::string_view name, Ino new_dir,
                             std::string_view new_name, unsigned flags) {
  const bool exchange = (flags & RENAME_EXCHANGE) != 0;
  const bool whiteout = (flags & RENAME_WHITEOUT) != 0;
  const bool replaces = (flags & RENAME_NOREPLACE) == 0;
  if ((flags & ~(RENAME_NOREPLACE | RENAME_EXCHANGE | RENAME_WHITEOUT)) != 0 ||
      (exchange && (whiteout || !replaces))) {
    return Refuse(EINVAL);
  }
  if (auto parent = Directory(dir); !parent) return tl::make_unexpected(parent.error());
  const auto new_parent = Directory(new_dir);
  if (!new_parent) return tl::make_unexpected(new_parent.error());
  if (new_name.size() > kMaxNameBytes) return Refuse(ENAMETOOLONG);
  if ((*new_parent)->links == 0) return Refuse(ENOENT);
  const Entry* found = current_.FindEntry(dir, name);
  if (found == nullptr) return Refuse(ENOENT);
  const Entry moved = *found;
  const Entry* target = current_.FindEntry(new_dir, new_name);
  const Entry replaced = target == nullptr ? Entry{} : *target;
  if (exchange && replaced.ino == kNoIno) return Refuse(ENOENT);
  if (!replaces && replaced.ino != kNoIno) return Refuse(EEXIST);
  if (moved.ino == replaced.ino) return {};  // Two names of one inode: POSIX says do nothing.
  if (S_ISDIR(moved.type) && IsAbove(moved.ino, new_dir)) return Refuse(EINVAL);
  if (S_ISDIR(replaced.type) && IsAbove(replaced.ino, dir)) {
    return Refuse(exchange ? EINVAL : ENOTEMPTY);
  }
  if (auto may = MayRemove(*current_.Find(dir), moved.ino); !may) return may;
  if (replaced.ino != kNoIno) {
    if (auto may = MayRemove(**new_parent, replaced.ino); !may) return may;
  } else if (((*new_parent)->flags & FS_IMMUTABLE_FL) != 0) {
    return Refuse(EPERM);
  }
  if (!exchange && replaced.ino != kNoIno) {
    if (auto may = MayReplace(moved, replaced); !may) return may;
  }
  Change change = Begin(OpKind::kRename, caller, moved.ino);
  if (recording_) {
    const std::string parent = current_.PathOf(dir);
    change.op.path = parent.empty() ? std::string(name) : parent + "/" + std::string(name);
  }
  Ino left = exchange ? replaced.ino : kNoIno;
  if (whiteout) {
    Inode node;
    node.mode = S_IFCHR;
    node.uid = caller.uid;
    const Inode& parent = *current_.Find(dir);
    node.gid = (parent.mode & S_ISGID) != 0 ? parent.gid : caller.gid;
    left = Bear(change, std::move(node));
  }
  MakeEntry(change, dir, name, left, GroupTag::kRename);
  MakeEntry(change, new_dir, new_name, moved.ino, GroupTag::kRename);
  if (recording_) change.op.to = current_.PathOf(moved.ino);
  Commit(std::move(change));
  if (!exchange && replaced.ino != kNoIno) Collect(replaced.ino, next_op_ - 1);
  return {};
}

}  // namespace tornfs
