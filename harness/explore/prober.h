// Prober: puts one situation after a crash to the user's programs: recovery, then check.
//
// Both are taken to be functions of what they find: the tree and the promises. Equal questions are
// asked once; a recovery that never opened the promises file is a function of the tree alone.
//
// Threads: none.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "harness/explore/plan.h"
#include "harness/explore/spec.h"
#include "harness/explore/stage.h"
#include "harness/explore/verdict.h"

namespace tornfs::harness {

// A world before recovery, and what had been promised by then (lines with newlines).
struct Situation {
  Base base;
  std::string promises;
};

// What recovery made of a situation.
struct Recovered {
  Verdict verdict;
  Base end;
  std::string promised;  // The lines recovery printed.
  // The history of recovery, for crashes in it. Without a recovery command, that of the check.
  std::shared_ptr<const Recording> recording;
  bool read_promises = false;
};

class Prober {
 public:
  // Commands are complete: see harness/command_line.h. An empty `recover` means that there is none.
  Prober(Stage& stage, const ContentStore& store, std::vector<std::string> recover,
         std::vector<std::string> check);

  [[nodiscard]] bool has_recovery() const { return !recover_.empty(); }

  // Runs recovery. With `record`, the history is there too. Errors: those of Stage::Run.
  [[nodiscard]] Result<std::shared_ptr<const Recovered>> Recover(const Situation& situation,
                                                                 bool record);
  // Runs the check; what it writes is thrown away, unless `record` asks for its history (when it is
  // the recovery too). Without a check command every state is good.
  [[nodiscard]] Result<Recovered> Check(const Situation& situation, bool record);

  [[nodiscard]] std::uint64_t runs() const { return runs_; }
  [[nodiscard]] std::uint64_t stragglers() const { return stragglers_; }
  // Runs that left files in their private /tmp or /dev/shm.
  [[nodiscard]] std::uint64_t left_outside() const { return left_outside_; }

 private:
  [[nodiscard]] Result<RunResult> Run(const Situation& situation,
                                      const std::vector<std::string>& command, bool is_recovery,
                                      bool record);

  Stage& stage_;
  const ContentStore& store_;
  std::vector<std::string> recover_;
  std::vector<std::string> check_;
  std::uint64_t runs_ = 0;
  std::uint64_t stragglers_ = 0;
  std::uint64_t left_outside_ = 0;
  std::unordered_map<Digest, std::shared_ptr<const Recovered>> recoveries_;
  std::unordered_map<Digest, Verdict> checks_;
};

// The world of a situation, promises aside, as a name: equal names mean that no program can tell
// the worlds apart, nor what it does in them. Requires that nothing is pending.
[[nodiscard]] Digest WorldName(const Situation& situation, const ContentStore& store);

// The first `count` promises of `recording`, a line each.
[[nodiscard]] std::string PromiseText(const Recording& recording, std::size_t count);

}  // namespace tornfs::harness
