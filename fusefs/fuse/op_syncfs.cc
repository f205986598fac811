// SYNCFS: sync(2) and syncfs(2), on mounts where the kernel sends them. The syncs by which this
// process itself pulls pages (Server::PullPages) are none of the program's.
#include <unistd.h>

#include <string>

#include "fusefs/fuse/change.h"
#include "fusefs/fuse/ops.h"
#include "fusefs/fuse/reply.h"

namespace tornfs {

int PerformSyncfs(MountContext& context, pid_t pid) {
  const std::string own = "/proc/self/task/" + std::to_string(pid);
  if (pid == 0 || access(own.c_str(), F_OK) == 0) return 0;
  ++context.counters.syncs_seen;
  if (context.sync_counts && !context.sync_counts(pid)) return 0;
  const Caller caller{0, 0, pid};
  const auto done = Change(context, caller, {OpKind::kSyncfs, kRootIno}, [&] {
    return context.engine.Barrier(caller, OpKind::kSyncfs, kRootIno);
  });
  return done ? 0 : static_cast<int>(done.error());
}

}  // namespace tornfs
