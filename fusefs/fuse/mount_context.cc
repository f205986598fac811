#include "fusefs/fuse/mount_context.h"

#include <sys/stat.h>

#include <algorithm>

namespace tornfs {
namespace {

// Whether the caller is in `group`. A process that cannot be looked up has but its own group.
bool IsMember(fuse_req_t req, gid_t group) {
  if (fuse_req_ctx(req)->gid == group) return true;
  std::vector<gid_t> groups(64);
  int count = fuse_req_getgroups(req, static_cast<int>(groups.size()), groups.data());
  if (count > static_cast<int>(groups.size())) {
    groups.resize(static_cast<std::size_t>(count));
    count = std::min(count, fuse_req_getgroups(req, count, groups.data()));
  }
  groups.resize(static_cast<std::size_t>(std::max(count, 0)));
  return std::ranges::find(groups, group) != groups.end();
}

}  // namespace

Caller CallerOn(fuse_req_t req, Ino ino) {
  Caller caller = CallerOf(req);
  const auto& mount = *static_cast<const MountContext*>(fuse_req_userdata(req));
  const Inode* inode = mount.engine.current().Find(ino);
  if (inode == nullptr || (inode->mode & (S_ISGID | S_IXGRP)) != S_ISGID) return caller;
  // Of a change of owner the kernel does not say who has CAP_FSETID; root does.
  const bool may_keep = !caller.clears_set_id && caller.uid == 0;
  caller.foreign_group = !may_keep && !IsMember(req, inode->gid);
  return caller;
}

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
