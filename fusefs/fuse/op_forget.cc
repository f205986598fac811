// FORGET: the kernel gives references back. Never answered; those of earlier epochs are void.
#include "fusefs/fuse/ops.h"
#include "fusefs/fuse/reply.h"

namespace tornfs {

namespace {

void ForgetOne(fuse_req_t req, fuse_ino_t node, std::uint64_t count) {
  auto& context = *static_cast<MountContext*>(fuse_req_userdata(req));
  if (context.nodes.Lives(node)) context.nodes.Forget(NodeTable::InoOf(node), count);
}

}  // namespace

void OpForget(fuse_req_t req, fuse_ino_t node, std::uint64_t count) {
  ForgetOne(req, node, count);
  fuse_reply_none(req);
}

void OpForgetMulti(fuse_req_t req, std::size_t count, fuse_forget_data* forgets) {
  for (std::size_t i = 0; i < count; ++i) ForgetOne(req, forgets[i].ino, forgets[i].nlookup);
  fuse_reply_none(req);
}

}  // namespace tornfs
