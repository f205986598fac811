#include "fusefs/fuse/mount_context.h"

namespace tornfs {

Outcome<Ino> MountContext::Living(fuse_ino_t node) {
  if (nodes.Lives(node)) return NodeTable::InoOf(node);
  ++counters.dead_requests;
  return Refuse(EIO);
}

Outcome<struct stat> MountContext::Stat(Ino ino) const {
  if (NodeTable::IsSpecial(ino)) return special.Stat(ino);
  return engine.Stat(ino);
}

void NotifyRefusal(MountContext& context) {
  if (!context.hook_refused) return;
  context.hook_refused = false;
  if (context.hook != nullptr) context.hook->Refused();
}

}  // namespace tornfs
