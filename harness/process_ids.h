// ProcessIds: every program of a helper begins with the same process id.
//
// Ids are in the names of temporary files, in lock files and in what programs write. If they went
// on from one program to the next, no two runs on the same state would do the same, and nothing
// could be concluded from one for the other.
#pragma once

#include "common/fd.h"

namespace tornfs::harness {

class ProcessIds {
 public:
  // For process 1 of a PID namespace with a /proc of its own. Where the kernel or /proc does not
  // allow it, ids go on. Opens a file for writing, so /proc must not become read-only after this.
  [[nodiscard]] static ProcessIds Open();

  // The next process gets id 101, and so on, as far as they are free. For the time between two
  // programs. The helper's own threads are below. Cost: about 1 us.
  void Restart() const;

 private:
  Fd last_;
};

}  // namespace tornfs::harness
