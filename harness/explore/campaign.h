// Campaign: an exploration with its workload recorded; what workers and replay start from.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "fusefs/core/recording.h"
#include "harness/explore/plan_run.h"
#include "harness/explore/spec.h"
#include "harness/explore/stage.h"
#include "harness/oracle/oracle.h"

namespace tornfs::harness {

struct Campaign {
  ExploreSpec spec;
  const Model* model = nullptr;
  std::unique_ptr<ContentStore> store;
  std::shared_ptr<const Recording> workload;
  std::string history;               // The first 16 hex digits of the recording's name.
  std::vector<std::string> recover;  // Complete argument vectors; empty: none.
  std::vector<std::string> check;
  // Judges when there is neither a recovery nor a check; else null.
  std::shared_ptr<const Oracle> oracle;
  bool uses_mappings = false;  // Shared mappings were written in the workload.
  bool sees_syncs = false;     // sync(2) and syncfs(2) are barriers.
  // What the workload, and recovery and check of the states without a crash, tried to change
  // outside their world.
  std::set<std::string> outside_writes;
  bool left_outside = false;      // The workload left files in /tmp or /dev/shm.
  bool promises_at_exit = false;  // Every promise came after the last op.

  // Options of a stage for this campaign; `core` as in StageOptions.
  [[nodiscard]] StageOptions Options(int core) const;
};

// A campaign without a recording: commands completed, model found, store opened.
// Errors: kInvalid for what the user wrote.
[[nodiscard]] Result<Campaign> Prepare(ExploreSpec spec);

// Makes `workload` the recording of `campaign`, which its store holds, and works out what follows
// from it alone.
void SetWorkload(Campaign& campaign, std::shared_ptr<const Recording> workload);

// What went wrong with the user's programs before anything was explored.
struct RecordFailure {
  std::string what;    // One line.
  std::string output;  // What the program printed.
};

// Set if a program did not end with 0; `who` is "the workload" or the like.
[[nodiscard]] std::optional<RecordFailure> FailureOf(const std::string& who,
                                                     const RunResult& result);
// For a verdict, not a good one, on a state that no crash made; `which` names it: "the final
// state".
[[nodiscard]] RecordFailure NotGood(const std::string& which, const Verdict& verdict);

// Imports, runs setup, records the workload, and makes sure that recovery and check are content
// with the state before the workload and with the one after it. `failure` is set when they are not;
// an Error means that tornfs itself could not go on.
[[nodiscard]] Status Record(Campaign& campaign, Stage& stage,
                            std::optional<RecordFailure>& failure);

// The last part of Record: for a campaign whose workload was recorded before.
[[nodiscard]] Status CheckEnds(Campaign& campaign, Stage& stage,
                               std::optional<RecordFailure>& failure);

// True if this process may make private namespaces: it is root.
[[nodiscard]] bool MayUseNamespaces();

// Where the world appears unless told otherwise.
[[nodiscard]] std::string DefaultWorldPath();

// Makes `path` and its parents, mode 0755. Errors: kIo.
[[nodiscard]] Status MakeDirectories(const std::string& path);

}  // namespace tornfs::harness
