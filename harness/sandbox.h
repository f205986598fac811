// What a program under test sees of the machine: private mounts, process ids, network and System V
// objects, and a read-only view of everything outside its world.
//
// Two mount namespaces. The owner (the process that serves the FUSE mount) enters its own with
// EnterPrivateNamespaces() and keeps a writable machine there. The helper that runs the programs
// (harness/supervisor.h) makes a second one below it: mounts of the owner show up there, what the
// helper changes does not come back. So the FUSE mount is seen by both, and both vanish with their
// last process.
//
// All of it needs root.
#pragma once

#include <string>

#include "common/fd.h"
#include "common/result.h"

namespace tornfs::harness {

// For the owner, before it mounts: moves the calling process to a mount namespace of its own whose
// changes never reach the machine but do reach helpers started later.
// Requires a single-threaded caller. Errors: kMissing without permission, kIo.
[[nodiscard]] Status EnterPrivateNamespaces();

// For the helper, which must already be process 1 of a new PID namespace: new mount namespace fed
// by the owner's, network namespace with loopback up, IPC namespace, and a /proc that shows the new
// process ids. Errors: kIo.
[[nodiscard]] Status EnterHelperNamespaces();

// The view that programs have of what lies outside their world. For the helper, after
// EnterHelperNamespaces(). From Enter() on
//   * every mount that exists then is read-only; devices such as /dev/null still take writes;
//   * /tmp is private and writable, and shows what /tmp held (an overlay on a fresh tmpfs);
//   * /dev/shm is private, writable and empty; /proc is writable where the kernel lets it be;
//   * a mount that the owner makes later at the mount point appears with its own options.
// Not thread safe.
class OutsideView {
 public:
  // `mount_point` must exist. What the kernel cannot do is left as it was, and named in one
  // warning. Errors: kIo when even making mounts read-only is impossible.
  [[nodiscard]] Status Enter(const std::string& mount_point);

  // For the time between two programs, when no process is left of the first: throws away what it
  // put into the private /tmp and /dev/shm, so that the next one finds them as it did. Returns
  // whether there was anything. Cost: about 5 us if not. Errors: kIo.
  [[nodiscard]] Result<bool> Renew();

 private:
  std::string mount_point_;
  Fd tmp_changes_;  // The upper folder of the overlay on /tmp; invalid without one.
  bool private_shm_ = false;
};

}  // namespace tornfs::harness
