// A cgroup v2 that exists to be killed: every process under test is born in it, and one write to
// cgroup.kill (Linux 5.14) ends them all, whatever sessions and groups they made for themselves.
//
// The directory is called tornfs-PID-N after its owner, beside the owner's own cgroup.
#pragma once

#include <string>

#include "common/fd.h"
#include "common/result.h"

namespace tornfs::harness {

class KillCgroup {
 public:
  // Makes the directory, and removes empty ones of owners that are gone. One that still holds
  // processes is left alone: where several PID namespaces share a cgroup tree, its owner may only
  // look dead from here.
  // Errors: kMissing where no cgroup v2 with cgroup.kill can be written to.
  [[nodiscard]] static Result<KillCgroup> Create();

  // Sends SIGKILL to every process in it, then returns. Errors: kIo.
  [[nodiscard]] Status Kill() const;

  // Removes the directory once its last process is gone, which the kernel may notice a moment
  // after waitpid did. Failure leaves an empty directory for the next Create() to clean up.
  void Remove() const;

  // For CLONE_INTO_CGROUP, and for joining by writing "0".
  [[nodiscard]] int directory_fd() const { return directory_.get(); }
  [[nodiscard]] int procs_fd() const { return procs_.get(); }
  [[nodiscard]] int kill_fd() const { return kill_.get(); }
  [[nodiscard]] int parent_fd() const { return parent_.get(); }

 private:
  std::string name_;
  Fd parent_;
  Fd directory_;
  Fd procs_;
  Fd kill_;
};

}  // namespace tornfs::harness
