// Engine: modes, owners and times.
#include "fusefs/core/engine.h"

namespace tornfs {
namespace {

Effect ValueEffect(CellKind kind, Ino ino, std::uint64_t value) {
  Effect effect;
  effect.kind = kind;
  effect.ino = ino;
  effect.value = value;
  return effect;
}

}  // namespace

Outcome<void> Engine::SetAttributes(const Caller& caller, Ino ino, const AttributeChange& wanted) {
  if (current_.Find(ino) == nullptr) return Refuse(ENOENT);
  const OpKind kind = wanted.uid || wanted.gid ? OpKind::kChown
                      : wanted.mode            ? OpKind::kChmod
                                               : OpKind::kUtimens;
  Change change = Begin(kind, caller, ino);
  if (wanted.mode) Make(change, ValueEffect(CellKind::kMode, ino, *wanted.mode & 07777));
  if (wanted.uid) Make(change, ValueEffect(CellKind::kUid, ino, *wanted.uid));
  if (wanted.gid) Make(change, ValueEffect(CellKind::kGid, ino, *wanted.gid));
  const Nanoseconds now = change.op.time;
  Commit(std::move(change));
  Thaw(ino);
  // Times are not cells: they are set in both trees.
  for (Tree* tree : {&current_, &durable_}) {
    if (tree->Find(ino) == nullptr) continue;
    Inode& inode = tree->Change(ino);
    if (wanted.atime) inode.atime = *wanted.atime == kTimeOfOp ? now : *wanted.atime;
    if (wanted.mtime) inode.mtime = *wanted.mtime == kTimeOfOp ? now : *wanted.mtime;
    inode.ctime = now;
  }
  return {};
}

}  // namespace tornfs
