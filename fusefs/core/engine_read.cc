// Engine: what programs read.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "fusefs/core/engine.h"

namespace tornfs {
namespace {

constexpr std::uint64_t kCookieSelf = 1;
constexpr std::uint64_t kCookieParent = 2;

timespec ToTimespec(Nanoseconds time) {
  constexpr Nanoseconds kSecond = 1'000'000'000;
  Nanoseconds seconds = time / kSecond;
  Nanoseconds rest = time % kSecond;
  if (rest < 0) {
    rest += kSecond;
    --seconds;
  }
  return {static_cast<time_t>(seconds), static_cast<long>(rest)};
}

}  // namespace

void Engine::Thaw(Ino ino) {
  if (!frozen_ || !thawed_.insert(ino).second) return;
  const FrozenTimes::Times times = frozen_->Of(ino);
  Inode& inode = current_.Change(ino);
  inode.atime = inode.mtime = times.modified;
  inode.ctime = times.changed;
}

Outcome<const Inode*> Engine::Directory(Ino dir) const {
  const Inode* inode = current_.Find(dir);
  if (inode == nullptr) return Refuse(ENOENT);
  if (!inode->IsDirectory()) return Refuse(ENOTDIR);
  return inode;
}

Outcome<const Inode*> Engine::Regular(Ino ino) const {
  const Inode* inode = current_.Find(ino);
  if (inode == nullptr) return Refuse(ENOENT);
  if (inode->IsDirectory()) return Refuse(EISDIR);
  if (!inode->IsRegular()) return Refuse(EINVAL);
  return inode;
}

Outcome<Ino> Engine::Lookup(Ino dir, std::string_view name) const {
  const auto inode = Directory(dir);
  if (!inode) return tl::make_unexpected(inode.error());
  if (name == ".") return dir;
  if (name == "..") return dir == kRootIno ? kRootIno : (*inode)->parent;
  if (name.size() > kMaxNameBytes) return Refuse(ENAMETOOLONG);
  const Entry* entry = (*inode)->entries.Find(EntryKey::Of(name));
  if (entry == nullptr) return Refuse(ENOENT);
  return entry->ino;
}

Outcome<struct stat> Engine::Stat(Ino ino) const {
  const Inode* inode = current_.Find(ino);
  if (inode == nullptr) return Refuse(ENOENT);
  struct stat out {};
  out.st_ino = ino;
  out.st_mode = inode->mode;
  out.st_nlink = inode->VisibleLinks();
  out.st_uid = inode->uid;
  out.st_gid = inode->gid;
  out.st_rdev = inode->device;
  out.st_blksize = static_cast<blksize_t>(kPageBytes);
  std::uint64_t size = inode->size;
  std::uint64_t pages = inode->content.pages() + inode->reserved.pages();
  if (inode->IsDirectory()) {
    size = kPageBytes;
    pages = 1;
    // As on ext4: 1 where they are not counted any more.
    if (out.st_nlink > kMaxLinks) out.st_nlink = 1;
  }
  if (S_ISLNK(inode->mode)) size = inode->target.size();
  out.st_size = static_cast<off_t>(size);
  if (frozen_) pages = (size + kPageBytes - 1) / kPageBytes;
  out.st_blocks = static_cast<blkcnt_t>(pages * (kPageBytes / 512));
  const bool frozen = frozen_ && !thawed_.contains(ino);
  const FrozenTimes::Times times =
      frozen ? frozen_->Of(ino) : FrozenTimes::Times{inode->mtime, inode->ctime};
  out.st_atim = ToTimespec(frozen ? times.modified : inode->atime);
  out.st_mtim = ToTimespec(times.modified);
  out.st_ctim = ToTimespec(times.changed);
  return out;
}

std::optional<timespec> Engine::BirthTime(Ino ino) const {
  const Inode* inode = current_.Find(ino);
  if (inode == nullptr || inode->btime == 0) return std::nullopt;
  return ToTimespec(inode->btime);
}

Outcome<std::string_view> Engine::ReadLink(Ino ino) const {
  const Inode* inode = current_.Find(ino);
  if (inode == nullptr) return Refuse(ENOENT);
  if (!S_ISLNK(inode->mode)) return Refuse(EINVAL);
  return inode->target;
}

Outcome<std::uint64_t> Engine::Read(Ino ino, std::uint64_t offset, std::uint64_t length,
                                    std::vector<iovec>& out) const {
  const auto inode = Regular(ino);
  if (!inode) return tl::make_unexpected(inode.error());
  if (offset >= (*inode)->size) return 0;
  length = std::min(length, (*inode)->size - offset);
  // A fault brings in the pages around it too.
  constexpr std::uint64_t kAround = 64U << 10;
  store_->NoteUse(length + kAround);
  (*inode)->content.Gather(*store_, offset, length, out);
  return length;
}

Outcome<std::uint64_t> Engine::Seek(Ino ino, std::uint64_t offset, int whence) const {
  const auto inode = Regular(ino);
  if (!inode) return tl::make_unexpected(inode.error());
  if (whence != SEEK_DATA && whence != SEEK_HOLE) return Refuse(EINVAL);
  const std::uint64_t size = (*inode)->size;
  if (offset >= size) return Refuse(ENXIO);
  // A page with some data is data, as on filesystems with such blocks.
  const ExtentMap& content = (*inode)->content;
  const auto floor = [](std::uint64_t at) { return at / kPageBytes * kPageBytes; };
  std::uint64_t data = content.NextData(floor(offset));
  if (whence == SEEK_DATA) {
    if (data >= size) return Refuse(ENXIO);
    return std::max(offset, floor(data));
  }
  std::uint64_t hole = floor(offset);
  while (hole < size && data < hole + kPageBytes) {
    hole = floor(content.NextHole(data) - 1) + kPageBytes;
    data = content.NextData(hole);
  }
  return std::min(std::max(offset, hole), size);
}

Outcome<void> Engine::List(Ino dir, std::uint64_t cookie,
                           const std::function<bool(const ListedEntry&)>& add) const {
  const auto inode = Directory(dir);
  if (!inode) return tl::make_unexpected(inode.error());
  if (cookie < kCookieSelf && !add({".", dir, S_IFDIR, kCookieSelf})) return {};
  if (cookie < kCookieParent) {
    const Ino parent = dir == kRootIno ? kRootIno : (*inode)->parent;
    if (!add({"..", parent, S_IFDIR, kCookieParent})) return {};
  }
  auto entry = (*inode)->entries.LowerBound(EntryKey{std::max(cookie, kCookieParent) + 1, ""});
  for (; entry.valid(); entry.Next()) {
    const Entry& value = entry.value();
    if (!add({entry.key().name, value.ino, value.type, entry.key().hash})) return {};
  }
  return {};
}

struct statvfs Engine::StatFs() const {
  constexpr std::uint64_t kBlocks = 1ULL << 32;  // 16 TiB.
  constexpr std::uint64_t kFiles = 1ULL << 32;
  struct statvfs out {};
  out.f_bsize = out.f_frsize = kPageBytes;
  out.f_blocks = kBlocks;
  const std::uint64_t blocks = frozen_ ? 0 : std::min(kBlocks, store_->size() / kPageBytes);
  out.f_bfree = out.f_bavail = kBlocks - blocks;
  out.f_files = kFiles;
  out.f_ffree = out.f_favail = kFiles - (frozen_ ? 0 : current_.inodes());
  out.f_namemax = kMaxNameBytes;
  return out;
}

}  // namespace tornfs
