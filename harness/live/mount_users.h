// MountUsers: the processes that use a mount, found through /proc.
//
// A process uses the mount if its working directory, its root, its program, an open file or a
// mapping lies there. Only processes of this process's PID namespace that it may look at are found:
// without root, those of the same user.
//
// Looking at working directories and descriptors waits for nobody. Looking at mappings may wait for
// a process that waits for the mount, so that is left to the mount's helper thread.
//
// Threads: the loop's.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <string>

#include "common/fd.h"
#include "fusefs/fuse/server.h"
#include "harness/live/crasher.h"

namespace tornfs::harness {

class MountUsers : public Victims {
 public:
  // `server` must outlive this.
  explicit MountUsers(Server& server) : server_(server) {}

  void Kill() override;
  // Gives up after ten seconds on processes that do not go.
  [[nodiscard]] std::size_t AwaitGone() override;

 private:
  using Predicate = std::function<bool(const std::string& proc)>;
  // Kills every process that `uses` says uses the mount, until a look at /proc finds none that is
  // new. Requires device_.
  void KillAll(const Predicate& uses);
  void Learn();

  Server& server_;
  dev_t device_ = 0;           // Of the mount; 0: not known yet.
  std::map<pid_t, Fd> found_;  // Pid descriptors of those that were killed.
};

}  // namespace tornfs::harness
