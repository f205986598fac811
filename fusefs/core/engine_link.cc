// Engine: link, unlink, rmdir.
#include "fusefs/core/engine.h"

namespace tornfs {

Outcome<void> Engine::Link(const Caller& caller, Ino ino, Ino dir, std::string_view name) {
  const Inode* inode = current_.Find(ino);
  // One that had a name and lost it is gone for good; one that never had one may get it.
  if (inode == nullptr || (inode->links == 0 && inode->parent != kNoIno)) return Refuse(ENOENT);
  if (inode->IsDirectory()) return Refuse(EPERM);
  if (auto may = MayChange(*inode); !may) return may;
  if (inode->links >= kMaxLinks) return Refuse(EMLINK);
  if (auto free = FreeName(dir, name); !free) return free;
  Change change = Begin(OpKind::kLink, caller, ino);
  MakeEntry(change, dir, name, ino);
  if (recording_) change.op.to = current_.PathOf(ino);
  Commit(std::move(change));
  return {};
}

Outcome<void> Engine::Unlink(const Caller& caller, Ino dir, std::string_view name) {
  const auto ino = Lookup(dir, name);
  if (!ino) return tl::make_unexpected(ino.error());
  if (auto may = MayRemove(*current_.Find(dir), *ino); !may) return may;
  if (current_.Find(*ino)->IsDirectory()) return Refuse(EISDIR);
  Change change = Begin(OpKind::kUnlink, caller, *ino);
  if (recording_) {
    const std::string parent = current_.PathOf(dir);
    change.op.path = parent.empty() ? std::string(name) : parent + "/" + std::string(name);
  }
  MakeEntry(change, dir, name, kNoIno);
  Commit(std::move(change));
  Collect(*ino, next_op_ - 1);
  return {};
}

Outcome<void> Engine::RemoveDirectory(const Caller& caller, Ino dir, std::string_view name) {
  if (name == ".") return Refuse(EINVAL);
  if (name == "..") return Refuse(ENOTEMPTY);
  const auto ino = Lookup(dir, name);
  if (!ino) return tl::make_unexpected(ino.error());
  const auto removed = Directory(*ino);
  if (!removed) return tl::make_unexpected(removed.error());
  if (auto may = MayRemove(*current_.Find(dir), *ino); !may) return may;
  if (!(*removed)->entries.empty()) return Refuse(ENOTEMPTY);
  Change change = Begin(OpKind::kRmdir, caller, *ino);
  MakeEntry(change, dir, name, kNoIno);
  Commit(std::move(change));
  Collect(*ino, next_op_ - 1);
  return {};
}

}  // namespace tornfs
