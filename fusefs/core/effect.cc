#include "fusefs/core/effect.h"

#include "fusefs/core/tree.h"

namespace tornfs {
namespace {

void ApplyEntry(const Effect& effect, Tree& tree) {
  const Ino before = tree.SetEntry(effect.ino, *effect.name, effect.child);
  Inode& dir = tree.Change(effect.ino);
  dir.mtime = dir.ctime = effect.time;
  if (before != kNoIno && before != effect.child) tree.Change(before).ctime = effect.time;
  if (effect.child != kNoIno) tree.Change(effect.child).ctime = effect.time;
}

void ApplyXattr(const Effect& effect, Inode& inode) {
  const XattrChange change = XattrChange::Of(*effect.name);
  if (change.value) {
    inode.xattrs.Set(std::string(change.name), std::make_shared<const std::string>(*change.value));
  } else {
    inode.xattrs.Erase(std::string(change.name));
  }
}

// Pages that get data are no longer merely reserved.
void ApplyData(const Effect& effect, Inode& inode) {
  inode.content.Write(effect.offset, effect.length, effect.content);
  if (effect.content != kZeros && inode.reserved.allocated() > 0) {
    const std::uint64_t begin = effect.offset / kPageBytes * kPageBytes;
    const std::uint64_t end =
        (effect.offset + effect.length + kPageBytes - 1) / kPageBytes * kPageBytes;
    inode.reserved.Write(begin, end - begin, kZeros);
  }
  inode.mtime = effect.time;
}

}  // namespace

XattrChange XattrChange::Of(std::string_view packed) {
  const std::size_t end = packed.find('\0');
  if (end == std::string_view::npos) return {packed, std::nullopt};
  return {packed.substr(0, end), packed.substr(end + 1)};
}

std::string XattrChange::Pack(std::string_view name, std::optional<std::string_view> value) {
  std::string packed(name);
  if (value) packed.append(1, '\0').append(*value);
  return packed;
}

void Apply(const Effect& effect, Tree& tree) {
  if (effect.kind == CellKind::kEntry) return ApplyEntry(effect, tree);
  Inode& inode = tree.Change(effect.ino);
  inode.ctime = effect.time;
  switch (effect.kind) {
    case CellKind::kData: ApplyData(effect, inode); break;
    case CellKind::kSize:
      inode.size = effect.value;
      inode.mtime = effect.time;
      break;
    case CellKind::kMode:
      inode.mode = (inode.mode & S_IFMT) | static_cast<mode_t>(effect.value);
      break;
    case CellKind::kUid: inode.uid = static_cast<uid_t>(effect.value); break;
    case CellKind::kGid: inode.gid = static_cast<gid_t>(effect.value); break;
    case CellKind::kXattr: ApplyXattr(effect, inode); break;
    case CellKind::kFlags: inode.flags = static_cast<std::uint32_t>(effect.value); break;
    case CellKind::kEntry: break;
  }
}

}  // namespace tornfs
