// Engine: fsync, fdatasync, fsync of a directory, syncfs.
#include "common/check.h"
#include "fusefs/core/engine.h"

namespace tornfs {

Outcome<void> Engine::Barrier(const Caller& caller, OpKind kind, Ino ino) {
  CHECK(IsBarrier(kind));
  if (kind == OpKind::kSyncfs) ino = kRootIno;
  if (current_.Find(ino) == nullptr) return Refuse(ENOENT);
  Change change = Begin(kind, caller, ino);
  const OpNumber by = change.op.number;
  Commit(std::move(change));
  CarryOut(kind, ino, by);
  return {};
}

}  // namespace tornfs
