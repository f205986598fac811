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

// For the helper, after EnterHelperNamespaces(): from here on
//   * every mount that exists now is read-only; devices such as /dev/null still take writes;
//   * /tmp is private and writable, and shows what /tmp held (an overlay on a fresh tmpfs);
//   * /dev/shm is private, writable and empty; /proc is writable where the kernel lets it be;
//   * a mount that the owner makes later at `mount_point` appears with its own options.
// `mount_point` must exist. What the kernel cannot do is left as it was, and named in one warning.
// Errors: kIo when even making mounts read-only is impossible.
[[nodiscard]] Status ReadOnlyOutside(const std::string& mount_point);

}  // namespace tornfs::harness
