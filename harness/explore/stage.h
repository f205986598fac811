// Stage: one mount and one supervisor, on which programs are run in one world after another.
//
// A world is a Base given to the engine; the mount and its path stay, the kernel forgets the world
// before (an epoch each). Programs are started with the same environment, directory and path for
// every world, so a deterministic program depends on nothing but the tree it finds.
//
// Time in a world does not pass by the clock: it goes on from the base by a nanosecond per op, so
// that runs repeat.
//
// Threads: one. The stage's process must be single-threaded when it is opened; no fork while open.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "common/result.h"
#include "fusefs/core/engine.h"
#include "fusefs/core/question.h"
#include "harness/supervisor.h"
#include "harness/sync_watch.h"

namespace tornfs {
class EventLoop;
class Server;
}  // namespace tornfs

namespace tornfs::harness {

struct StageOptions {
  std::string mount_path;           // An existing empty directory.
  std::string origin;               // TORNFS_ORIGIN.
  std::string user;                 // Whom programs run as; empty: the caller.
  std::uint64_t seed = 1;           // TORNFS_SEED.
  bool private_namespaces = false;  // Root only.
  bool read_only_outside = false;
  // What files show in worlds that do not go by the clock; null: the times of their trees.
  std::shared_ptr<const FrozenTimes> times;
  bool watch_outside = false;  // Look for writes outside the world; needs read_only_outside.
  // RunRequest::questions holds just the pages that a program read; without it the kernel reads
  // ahead, which takes far fewer requests.
  bool exact_reads = false;
  int core = -1;  // Everything on this core; -1: anywhere.
  std::chrono::milliseconds timeout{60'000};
};

struct RunRequest {
  std::vector<std::string> arguments;
  std::string promises;             // Content of the promises file.
  bool has_promises = false;        // Give the program TORNFS_PROMISES.
  bool output_is_promises = false;  // Its lines are promises at their place among the ops.
  bool inherit_input = false;
  bool record = false;
  bool real_time = false;            // Ops take the time of the clock, and files show their times.
  QuestionLog* questions = nullptr;  // Gets what the program asks; needs `record`.
};

struct RunResult {
  ExitReport report;
  bool timed_out = false;
  std::string output;
  std::string error;
  Base end;                                    // The world it left behind, nothing crashed.
  std::shared_ptr<const Recording> recording;  // If asked for.
  bool read_promises = false;

  [[nodiscard]] int status() const { return report.ShellStatus(); }
};

class Stage {
 public:
  // `store` and `model` must outlive the stage. Errors: kMissing without FUSE or permission, kIo.
  [[nodiscard]] static Result<std::unique_ptr<Stage>> Open(ContentStore& store, const Model& model,
                                                           const StageOptions& options);
  ~Stage();
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  // Runs a program to its end in the world of `base`. Errors: kIo when the mount or the supervisor
  // is gone; a program that cannot be started is a result, not an error.
  [[nodiscard]] Result<RunResult> Run(const Base& base, const RunRequest& request);

  // From now on, stores through shared mappings are collected after every run: a program has been
  // seen to use them.
  void PullMappings() { pull_mappings_ = true; }

  void Freeze(std::shared_ptr<const FrozenTimes> times) { options_.times = std::move(times); }
  // Whether sync(2) and syncfs(2) by the programs are barriers: with private namespaces, where the
  // machine allows it (harness/sync_watch.h).
  [[nodiscard]] bool sees_syncs() const { return supervisor_->syscall_listener() >= 0; }

  // Paths outside the world that programs have tried to change, if that is watched.
  [[nodiscard]] const std::set<std::string>& outside_writes() const {
    return sync_watch_->outside_writes();
  }

  [[nodiscard]] std::string promises_path() const;

 private:
  Stage(ContentStore& store, const Model& model, StageOptions options);
  [[nodiscard]] Status Await(RunResult& result);
  // Whether the world's path still leads to the mount. A program could change that only where it
  // may unmount: without namespaces of its own.
  [[nodiscard]] Status CheckMount();
  [[nodiscard]] std::vector<std::string> Environment(bool with_promises) const;

  StageOptions options_;
  bool real_time_ = false;
  bool pull_mappings_ = false;
  dev_t device_ = 0;  // Of the mount.
  std::optional<Identity> identity_;
  Engine engine_;
  std::unique_ptr<EventLoop> loop_;
  std::optional<Supervisor> supervisor_;
  std::unique_ptr<Server> server_;
  std::optional<SyncWatch> sync_watch_;
};

}  // namespace tornfs::harness
