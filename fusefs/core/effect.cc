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

}  // namespace

void Apply(const Effect& effect, Tree& tree) {
  if (effect.kind == CellKind::kEntry) return ApplyEntry(effect, tree);
  Inode& inode = tree.Change(effect.ino);
  inode.ctime = effect.time;
  switch (effect.kind) {
    case CellKind::kData:
      inode.content.Write(effect.offset, effect.length, effect.content);
      inode.mtime = effect.time;
      break;
    case CellKind::kSize:
      inode.size = effect.value;
      inode.mtime = effect.time;
      break;
    case CellKind::kMode:
      inode.mode = (inode.mode & S_IFMT) | static_cast<mode_t>(effect.value);
      break;
    case CellKind::kUid: inode.uid = static_cast<uid_t>(effect.value); break;
    case CellKind::kGid: inode.gid = static_cast<gid_t>(effect.value); break;
    case CellKind::kEntry: break;
  }
}

}  // namespace tornfs
