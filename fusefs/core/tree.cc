#include "fusefs/core/tree.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/check.h"

namespace tornfs {
namespace {

// Cookies 1 and 2 of a listing are "." and "..".
constexpr std::uint64_t kFirstHash = 3;
constexpr std::uint64_t kHashMask = (1ULL << 62) - 1;

// Sums a digest per page that is not all zero, so holes and stored zeros count the same.
Digest ContentDigest(const Inode& inode, const ContentStore& store) {
  Digest sum;
  std::array<std::byte, kPageBytes> page;
  std::uint64_t at = inode.content.NextData(0);
  while (at < inode.size) {
    const std::uint64_t begin = at / kPageBytes * kPageBytes;
    const std::uint64_t length = std::min<std::uint64_t>(kPageBytes, inode.size - begin);
    page.fill(std::byte{0});
    inode.content.Read(store, begin, std::span(page).first(length));
    if (std::any_of(page.begin(), page.end(), [](std::byte b) { return b != std::byte{0}; })) {
      sum += Mix(Hash128(page), begin);
    }
    at = inode.content.NextData(begin + kPageBytes);
  }
  return sum;
}

}  // namespace

EntryKey EntryKey::Of(std::string_view name) {
  return {std::max(Hash64(name) & kHashMask, kFirstHash), std::string(name)};
}

Tree Tree::Empty(uid_t uid, gid_t gid, Nanoseconds now) {
  Inode root;
  root.mode = S_IFDIR | 0755;
  root.uid = uid;
  root.gid = gid;
  root.links = 1;
  root.atime = root.mtime = root.ctime = root.btime = now;
  Tree tree;
  tree.Add(kRootIno, std::move(root));
  return tree;
}

const Inode* Tree::Find(Ino ino) const {
  const auto* found = inodes_.Find(ino);
  return found == nullptr ? nullptr : &(*found)->inode;
}

Inode& Tree::Change(Ino ino) {
  auto* found = inodes_.FindMutable(ino);
  CHECK(found != nullptr);
  if (found->use_count() > 1) {
    *found = std::make_shared<Shared>(Shared{(*found)->inode, std::nullopt});
  } else {
    (*found)->digest.reset();
  }
  return (*found)->inode;
}

void Tree::Add(Ino ino, Inode inode) {
  const bool added =
      inodes_.Set(ino, std::make_shared<Shared>(Shared{std::move(inode), std::nullopt}));
  CHECK(added);
}

void Tree::Remove(Ino ino) { inodes_.Erase(ino); }

const Entry* Tree::FindEntry(Ino dir, std::string_view name) const {
  const Inode* inode = Find(dir);
  return inode == nullptr ? nullptr : inode->entries.Find(EntryKey::Of(name));
}

Ino Tree::SetEntry(Ino dir, std::string_view name, Ino child) {
  EntryKey key = EntryKey::Of(name);
  Inode& parent = Change(dir);
  const Entry* found = parent.entries.Find(key);
  const Entry before = found == nullptr ? Entry{} : *found;
  if (before.ino == child) return before.ino;
  if (S_ISDIR(before.type)) --parent.subdirectories;
  if (child == kNoIno) {
    parent.entries.Erase(key);
  } else {
    const Inode* target = Find(child);
    CHECK(target != nullptr);
    parent.entries.Set(std::move(key), {child, target->mode & S_IFMT});
    if (target->IsDirectory()) ++parent.subdirectories;
  }
  if (before.ino != kNoIno) --Change(before.ino).links;
  if (child != kNoIno) {
    Inode& target = Change(child);
    ++target.links;
    target.parent = dir;
    target.name = name;
  }
  return before.ino;
}

std::string Tree::PathOf(Ino ino) const {
  std::string path;
  for (int depth = 0; ino != kRootIno && depth < 4096; ++depth) {
    const Inode* inode = Find(ino);
    if (inode == nullptr || inode->parent == kNoIno) break;
    path = path.empty() ? inode->name : inode->name + "/" + path;
    ino = inode->parent;
  }
  return path;
}

void Tree::KeepReachable() {
  std::unordered_map<Ino, std::uint32_t> names{{kRootIno, 1}};
  std::vector<Ino> open{kRootIno};
  while (!open.empty()) {
    const Ino dir = open.back();
    open.pop_back();
    for (auto entry = Find(dir)->entries.Begin(); entry.valid(); entry.Next()) {
      if (names[entry.value().ino]++ == 0 && S_ISDIR(entry.value().type)) {
        open.push_back(entry.value().ino);
      }
    }
  }
  std::vector<Ino> lost;
  std::vector<std::pair<Ino, std::uint32_t>> recount;
  for (auto inode = inodes_.Begin(); inode.valid(); inode.Next()) {
    const auto found = names.find(inode.key());
    if (found == names.end()) {
      lost.push_back(inode.key());
    } else if (inode.value()->inode.links != found->second) {
      recount.emplace_back(inode.key(), found->second);
    }
  }
  for (const Ino ino : lost) Remove(ino);
  for (const auto& [ino, links] : recount) Change(ino).links = links;
}

Digest Tree::OwnDigest(const Shared& shared, const ContentStore& store) const {
  if (shared.digest) return *shared.digest;
  const Inode& inode = shared.inode;
  const std::array<std::uint64_t, 6> words{
      inode.mode, inode.uid, inode.gid, inode.device, inode.IsDirectory() ? 0 : inode.size,
      inode.flags};
  Digest digest = Hash128(std::as_bytes(std::span(words)));
  if (inode.IsRegular()) digest = Mix(digest, ContentDigest(inode, store));
  if (S_ISLNK(inode.mode)) digest = Mix(digest, Hash128(inode.target));
  for (auto xattr = inode.xattrs.Begin(); xattr.valid(); xattr.Next()) {
    digest = Mix(Mix(digest, Hash128(xattr.key())), Hash128(*xattr.value()));
  }
  shared.digest = digest;
  return digest;
}

Digest Tree::VisibleDigest(const ContentStore& store) const { return WalkDigest(store, false); }

Digest Tree::ExactDigest(const ContentStore& store) const { return WalkDigest(store, true); }

Digest Tree::WalkDigest(const ContentStore& store, bool exact) const {
  struct Open {
    Ino ino;
    Digest path;
  };
  const auto digest_of = [&](Ino ino, const Shared& shared) {
    const Digest own = OwnDigest(shared, store);
    if (!exact) return own;
    const Inode& inode = shared.inode;
    const std::array<std::int64_t, 5> words{static_cast<std::int64_t>(ino), inode.atime,
                                            inode.mtime, inode.ctime, inode.btime};
    return Mix(own, Hash128(std::as_bytes(std::span(words))));
  };
  Digest sum;
  std::unordered_map<Ino, std::uint64_t> linked;  // Files with several names, by first visit.
  std::vector<Open> open{{kRootIno, Hash128("/")}};
  while (!open.empty()) {
    const Open dir = open.back();
    open.pop_back();
    const auto& shared = *inodes_.Find(dir.ino);
    sum += Mix(dir.path, digest_of(dir.ino, *shared));
    for (auto entry = shared->inode.entries.Begin(); entry.valid(); entry.Next()) {
      const Digest path = Mix(dir.path, Hash128(entry.key().name));
      if (S_ISDIR(entry.value().type)) {
        open.push_back({entry.value().ino, path});
        continue;
      }
      const auto& child = **inodes_.Find(entry.value().ino);
      Digest digest = Mix(path, digest_of(entry.value().ino, child));
      if (child.inode.links > 1) {
        digest =
            Mix(digest, linked.try_emplace(entry.value().ino, linked.size() + 1).first->second);
      }
      sum += digest;
    }
  }
  return sum;
}

}  // namespace tornfs
