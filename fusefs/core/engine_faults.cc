// Engine: what a barrier that failed leaves behind.
#include "fusefs/core/engine.h"

namespace tornfs {

bool Engine::FailBarrier(Ino ino, Aftermath aftermath) {
  if (aftermath == Aftermath::kKeep || current_.Find(ino) == nullptr) return false;
  const bool revert = aftermath == Aftermath::kRevert;
  garbage_ = true;
  (void)pending_.TakeContents(ino, revert);
  const Inode* durable = durable_.Find(ino);
  if (!revert || durable == nullptr) return false;
  Inode& inode = current_.Change(ino);
  inode.content = durable->content;
  inode.size = durable->size;
  return true;
}

}  // namespace tornfs
