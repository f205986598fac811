#include "fusefs/fuse/mount_context.h"

#include <algorithm>

namespace tornfs {

Outcome<Ino> MountContext::Living(fuse_ino_t node) {
  if (nodes.Lives(node)) return NodeTable::InoOf(node);
  ++counters.dead_requests;
  return Refuse(EIO);
}

void MountContext::AskPages(fuse_req_t req, Ino ino, std::uint64_t offset, std::uint64_t length) {
  const Inode* inode = questions == nullptr ? nullptr : engine.current().Find(ino);
  if (inode == nullptr || offset >= inode->size) return;
  const std::uint64_t end = std::min(inode->size - offset, length) + offset;
  for (std::uint64_t page = offset / kPageBytes; page * kPageBytes < end; ++page) {
    Ask(req, {Question::Kind::kPage, ino, page, {}});
  }
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
