// A cgroup v2 that exists to be killed: every process under test is born in it, and one write to
// cgroup.kill (Linux 5.14) ends them all, whatever sessions and groups they made for themselves.
//
// Two levels, beside the owner's own cgroup: tornfs-PID-N, named after the owner and killed by it,
// and in it a leaf for the processes, 1, 2, ...; after every kill the helper makes a new leaf. It
// must, because Linux (6.18 at least) gives SIGKILL at birth to every child cloned into a cgroup
// whose count of kills differs from that of the parent's cgroup.
//
// The owner makes the object, the helper inherits it across fork(2).
#pragma once

#include <string>

#include "common/fd.h"
#include "common/result.h"

namespace tornfs::harness {

class KillCgroup {
 public:
  // Makes the upper folder, and removes empty ones of owners that are gone. One that still holds
  // processes is left alone: where several PID namespaces share a cgroup tree, its owner may only
  // look dead from here.
  // Errors: kMissing where no cgroup v2 with cgroup.kill can be written to.
  [[nodiscard]] static Result<KillCgroup> Create();

  // Owner: sends SIGKILL to every process in any leaf, then returns. Errors: kIo.
  [[nodiscard]] Status Kill() const;

  // Helper: makes the next leaf and removes the one before, which must have no process left.
  // Errors: kIo.
  [[nodiscard]] Status NewLeaf();

  // Helper: the leaf, for CLONE_INTO_CGROUP and for joining by writing "0"; -1 before NewLeaf().
  [[nodiscard]] int leaf_fd() const { return leaf_.get(); }
  [[nodiscard]] int leaf_procs_fd() const { return procs_.get(); }

  // Removes all of it once the last process is gone, which the kernel may notice a moment after
  // waitpid did. Failure leaves empty folders for the next Create() to clean up.
  void Remove() const;

  // What the helper must keep open.
  [[nodiscard]] int parent_fd() const { return parent_.get(); }
  [[nodiscard]] int group_fd() const { return group_.get(); }

 private:
  std::string name_;
  Fd parent_;
  Fd group_;
  Fd kill_;
  int generation_ = 0;
  Fd leaf_;
  Fd procs_;
};

}  // namespace tornfs::harness
