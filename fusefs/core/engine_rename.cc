// Engine: rename and its flags.
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

Outcome<void> Engine::Rename(const Caller& caller, Ino dir, std::string_view name, Ino new_dir,
                             std::string_view new_name, unsigned flags) {
  const bool exchange = flags == RENAME_EXCHANGE;
  if (flags != 0 && flags != RENAME_NOREPLACE && !exchange) return Refuse(EINVAL);
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
  if (flags == RENAME_NOREPLACE && replaced.ino != kNoIno) return Refuse(EEXIST);
  if (moved.ino == replaced.ino) return {};  // Two names of one inode: POSIX says do nothing.
  for (Ino above = new_dir; S_ISDIR(moved.type); above = current_.Find(above)->parent) {
    if (above == moved.ino) return Refuse(EINVAL);
    if (above == kRootIno) break;
  }
  for (Ino above = dir; exchange && S_ISDIR(replaced.type); above = current_.Find(above)->parent) {
    if (above == replaced.ino) return Refuse(EINVAL);
    if (above == kRootIno) break;
  }
  if (!exchange && replaced.ino != kNoIno) {
    if (auto may = MayReplace(moved, replaced); !may) return may;
  }
  if (S_ISDIR(moved.type) && !S_ISDIR(replaced.type) && dir != new_dir &&
      (*new_parent)->subdirectories >= kMaxLinks) {
    return Refuse(EMLINK);
  }
  Change change = Begin(OpKind::kRename, caller, moved.ino);
  if (recording_) {
    const std::string parent = current_.PathOf(dir);
    change.op.path = parent.empty() ? std::string(name) : parent + "/" + std::string(name);
  }
  MakeEntry(change, dir, name, exchange ? replaced.ino : kNoIno, GroupTag::kRename);
  MakeEntry(change, new_dir, new_name, moved.ino, GroupTag::kRename);
  if (recording_) change.op.to = current_.PathOf(moved.ino);
  Commit(std::move(change));
  if (!exchange && replaced.ino != kNoIno) Collect(replaced.ino, next_op_ - 1);
  return {};
}

}  // namespace tornfs
