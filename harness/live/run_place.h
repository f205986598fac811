// RunPlace: where `run` mounts, and the helper that will start the programs there.
//
// root      a private mount namespace: nobody else sees the mount, and it goes with us
// others    an ordinary mount through fusermount3, which the helper detaches if we die
//
// A fresh directory is /tmp/tornfs-run-PID-XXXXXX, locked with flock(2) as long as its owner lives.
// What owners and helpers that were both killed have left is removed by the next Prepare.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/fd.h"
#include "common/result.h"
#include "harness/supervisor.h"

namespace tornfs::harness {

class RunPlace {
 public:
  struct Options {
    std::string at;               // An existing directory; empty: a fresh one below /tmp.
    int pin_core = -1;            // For the programs.
    bool for_other_user = false;  // A user other than ours must get at the directory.
  };

  // Requires a single-threaded caller. Errors: kNotFound, kInvalid, kBusy for `at`; kIo.
  [[nodiscard]] static Result<std::unique_ptr<RunPlace>> Prepare(const Options& options);
  // Removes what was made. Call it when nothing is mounted any more.
  ~RunPlace();
  RunPlace(const RunPlace&) = delete;
  RunPlace& operator=(const RunPlace&) = delete;

  [[nodiscard]] const std::string& mount_point() const { return mount_point_; }
  // The helper; once.
  [[nodiscard]] Supervisor TakeSupervisor() { return std::move(*supervisor_); }

 private:
  RunPlace() = default;
  [[nodiscard]] Status Choose(const Options& options);
  [[nodiscard]] Status MakeDirectory(mode_t mode);
  [[nodiscard]] std::vector<std::string> Cleanup() const;

  std::string mount_point_;
  Fd lock_;               // On the directory, if it is ours to remove.
  bool private_ = false;  // In namespaces of our own.
  std::optional<Supervisor> supervisor_;
};

}  // namespace tornfs::harness
