// Engine: extended attributes and ACLs.
#include <sys/xattr.h>

#include <algorithm>
#include <array>

#include "fusefs/core/engine.h"
#include "fusefs/core/posix_acl.h"
#include "fusefs/core/set_id.h"

namespace tornfs {
namespace {

constexpr std::size_t kMaxNamesBytes = 65536;  // XATTR_LIST_MAX.
constexpr std::string_view kTrusted = "trusted.";
constexpr std::string_view kCapability = "security.capability";

// Errors: EOPNOTSUPP for a namespace that no filesystem has, EINVAL for a namespace alone.
Outcome<void> Check(std::string_view name) {
  if (name == kAccessAcl || name == kDefaultAcl) return {};
  static constexpr std::array<std::string_view, 3> kNamespaces{"user.", kTrusted, "security."};
  for (const std::string_view space : kNamespaces) {
    if (!name.starts_with(space)) continue;
    if (name.size() == space.size()) return Refuse(EINVAL);
    return {};
  }
  return Refuse(EOPNOTSUPP);
}

std::size_t NamesBytes(const Inode& inode) {
  std::size_t bytes = 0;
  for (auto xattr = inode.xattrs.Begin(); xattr.valid(); xattr.Next()) {
    bytes += xattr.key().size() + 1;
  }
  return bytes;
}

}  // namespace

Outcome<std::string_view> Engine::GetXattr(Ino ino, std::string_view name) const {
  const Inode* inode = current_.Find(ino);
  if (inode == nullptr) return Refuse(ENOENT);
  if (auto known = Check(name); !known) return tl::make_unexpected(known.error());
  const auto* value = inode->xattrs.Find(name);
  if (value == nullptr) return Refuse(ENODATA);
  return **value;
}

Outcome<std::string> Engine::ListXattrs(Ino ino, bool trusted) const {
  const Inode* inode = current_.Find(ino);
  if (inode == nullptr) return Refuse(ENOENT);
  std::string names;
  for (auto xattr = inode->xattrs.Begin(); xattr.valid(); xattr.Next()) {
    if (trusted || !xattr.key().starts_with(kTrusted)) names.append(xattr.key()).append(1, '\0');
  }
  return names;
}

Outcome<void> Engine::SetXattr(const Caller& caller, Ino ino, std::string_view name,
                               std::string_view value, int flags) {
  const Inode* inode = current_.Find(ino);
  if (inode == nullptr) return Refuse(ENOENT);
  if (auto known = Check(name); !known) return known;
  if (auto may = MayChange(*inode); !may) return may;
  if (name == kAccessAcl || name == kDefaultAcl) return SetAcl(caller, ino, name, value);
  const bool exists = inode->xattrs.Find(name) != nullptr;
  if ((flags & XATTR_CREATE) != 0 && exists) return Refuse(EEXIST);
  if ((flags & XATTR_REPLACE) != 0 && !exists) return Refuse(ENODATA);
  if (!exists && NamesBytes(*inode) + name.size() + 1 > kMaxNamesBytes) return Refuse(ENOSPC);
  Change change = Begin(OpKind::kSetxattr, caller, ino);
  MakeXattr(change, ino, name, value);
  Commit(std::move(change));
  return {};
}

Outcome<void> Engine::SetAcl(const Caller& caller, Ino ino, std::string_view name,
                             std::string_view value) {
  const Inode& inode = *current_.Find(ino);
  const auto acl = PosixAcl::Parse(value);
  if (!acl) return tl::make_unexpected(acl.error());
  if (acl->empty()) return RemoveXattr(caller, ino, name);
  if (S_ISLNK(inode.mode)) return Refuse(EOPNOTSUPP);
  if (name == kDefaultAcl && !inode.IsDirectory()) return Refuse(EACCES);
  mode_t mode = inode.mode & 07777;
  Change change = Begin(OpKind::kSetxattr, caller, ino);
  if (name == kAccessAcl) {
    mode = (mode & ~mode_t{0777}) | acl->Mode();
    if (caller.clears_set_id) mode &= ~mode_t{S_ISGID};
    MakeValue(change, CellKind::kMode, ino, mode, GroupTag::kAcl);
  }
  const bool kept = name == kDefaultAcl || !acl->IsMode();
  MakeXattr(change, ino, name, kept ? std::optional(value) : std::nullopt, GroupTag::kAcl);
  Commit(std::move(change));
  return {};
}

Outcome<void> Engine::RemoveXattr(const Caller& caller, Ino ino, std::string_view name) {
  const Inode* inode = current_.Find(ino);
  if (inode == nullptr) return Refuse(ENOENT);
  if (auto known = Check(name); !known) return known;
  if (auto may = MayChange(*inode); !may) return may;
  if (inode->xattrs.Find(name) == nullptr) {
    if (name == kAccessAcl || name == kDefaultAcl) return {};
    return Refuse(ENODATA);
  }
  Change change = Begin(OpKind::kRemovexattr, caller, ino);
  MakeXattr(change, ino, name, std::nullopt);
  Commit(std::move(change));
  return {};
}

void Engine::ClearPrivileges(Change& change, Ino ino, const Caller& caller, bool set_id) {
  const Inode& inode = *current_.Find(ino);
  mode_t mode = inode.mode & 07777;
  if (set_id && !inode.IsDirectory()) mode = WithoutSetId(mode, caller);
  const bool capable = !inode.xattrs.empty() && inode.xattrs.Find(kCapability) != nullptr;
  if (mode != (inode.mode & 07777)) MakeValue(change, CellKind::kMode, ino, mode);
  if (capable) MakeXattr(change, ino, kCapability, std::nullopt);
}

}  // namespace tornfs
