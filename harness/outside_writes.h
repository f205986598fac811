// OutsideWrites: attempts of watched programs to write outside their world, where everything but a
// few private places is read-only (harness/sandbox.h). The attempt fails as it would unwatched;
// here it is remembered.
//
// What counts: the path would be changed, and lies on a read-only mount. Not seen: changes through
// descriptors (fchmod), extended attributes, openat2(2), and programs for another instruction set.
#pragma once

#include <set>
#include <string>

#include "harness/syscall_watch.h"

namespace tornfs::harness {

class OutsideWrites {
 public:
  // `world` is where the programs may write.
  explicit OutsideWrites(std::string world) : world_(std::move(world)) {}

  // Looks at a caught call that has not been answered. Touches paths of the program, so it must run
  // where waiting for the mount is possible. Cost: some 20 us.
  void Look(const CaughtSyscall& caught);

  // Absolute, symbolic links not resolved.
  [[nodiscard]] const std::set<std::string>& paths() const { return paths_; }

 private:
  std::string world_;
  std::set<std::string> paths_;
};

}  // namespace tornfs::harness
