// Hands: the process that does with a device what its server must not do itself, because it would
// wait for its own answers: attach a loop device, make and mount filesystems, run programs on them
// and read them back.
//
// It is started before the server mounts, so it holds no copy of the FUSE descriptor: when the
// server's process dies, the kernel fails what is in flight and the hands go too; the private
// mount namespace and the loop device, which clears itself, go with them.
//
// One request is in work at a time, and the caller's loop is pumped while it is.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/fd.h"
#include "common/result.h"
#include "fusefs/fuse/event_loop.h"
#include "harness/device/filesystem.h"
#include "harness/device/step.h"

namespace tornfs::harness {

// What a schedule adds to a program.
enum class SideCall : std::uint8_t { kSyncAnother, kWriteBack, kSyncAll };

class Hands {
 public:
  // Forks. `mount_point` is an empty folder of this process's private mount namespace. Errors: kIo.
  [[nodiscard]] static Result<std::unique_ptr<Hands>> Start(EventLoop& loop,
                                                            const std::string& mount_point);
  // Lets the process unmount, free the device and end.
  ~Hands();
  Hands(const Hands&) = delete;
  Hands& operator=(const Hands&) = delete;

  // Puts a loop device on `file`, with direct I/O. Errors: kMissing, kIo.
  [[nodiscard]] Status Attach(const std::string& file);
  // Runs the mkfs of `filesystem`. Errors: kIo with what it said.
  [[nodiscard]] Status Make(const Filesystem& filesystem, const std::string& id);
  // Mounts for running steps. Errors: kIo.
  [[nodiscard]] Status Mount(const Filesystem& filesystem, const std::string& more_options);
  // Makes a folder with that owner, on what is mounted. Errors: kIo.
  [[nodiscard]] Status MakeFolder(const std::string& path, uid_t owner, gid_t group);
  // Copies a tree as ImportDirectory() and ExportTree() do (fusefs/core/host_tree.h): `to` is made,
  // or is empty. Errors: theirs.
  [[nodiscard]] Status Copy(const std::string& from, const std::string& to);
  // Shows `folder` at the path `at` too, until Unmount(). Errors: kIo.
  [[nodiscard]] Status Show(const std::string& folder, const std::string& at);
  // Errors: kIo, for one when a process still uses what was mounted.
  [[nodiscard]] Status Unmount();
  // Runs steps on what is mounted. `before` and `after` are called around each, by its number,
  // while the other process waits. Errors: kIo.
  using StepHook = std::function<void(std::size_t step)>;
  [[nodiscard]] Status Run(const std::vector<StepWords>& steps, const StepHook& before = {},
                           const StepHook& after = {});
  [[nodiscard]] Status Do(SideCall call);
  // Mounts read-only, which replays the journal, reads the tree and unmounts. Errors: kCorrupt if
  // it cannot be mounted or read.
  [[nodiscard]] Result<std::string> Look(const Filesystem& filesystem);

 private:
  Hands(EventLoop& loop, Fd socket, pid_t pid)
      : loop_(loop), socket_(std::move(socket)), pid_(pid) {}
  // Sends one request and pumps until the answer is there.
  [[nodiscard]] Result<std::string> Ask(const std::string& request);

  EventLoop& loop_;
  Fd socket_;
  pid_t pid_;
  std::optional<std::string> answer_;
  bool gone_ = false;
  const StepHook* before_ = nullptr;
  const StepHook* after_ = nullptr;
};

}  // namespace tornfs::harness
