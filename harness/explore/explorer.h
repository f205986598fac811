// Explorer: tries the crashes of one unit (a crash point of the workload, or a kill) and all that
// can follow: recovery, the check, and further power losses inside recovery up to the depth asked
// for.
//
// Depth first. A situation and all that can follow it is marked good when nothing in it failed;
// equal situations are then passed over, in every worker. A failing one is reported with the plan
// that leads to it, every time it is reached.
//
// What is counted does not depend on the number of workers: below a good situation states and
// windows count once, even when two workers came to it at the same time; below a failing one they
// count as often as it is reached.
//
// Threads: none; one per worker process.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "harness/explore/choices.h"
#include "harness/explore/prober.h"
#include "harness/explore/shared_state.h"

namespace tornfs::harness {

// A crash point of the workload's own history.
struct Unit {
  Step::Kind kind = Step::Kind::kPower;
  CrashPoint point;
};

// Every unit, in the order they are tried: power points, then kills.
[[nodiscard]] std::vector<Unit> UnitsOf(const Recording& workload, const ExploreSpec& spec);

class Explorer {
 public:
  // Told of every failing state.
  using OnViolation = std::function<Status(const Plan& plan, const Verdict& verdict)>;

  Explorer(const ExploreSpec& spec, const Recording& workload, std::string history,
           const Model& model, const ContentStore& store, Prober& prober, SharedState& shared,
           OnViolation on_violation);

  // Errors: those of the stage, and those of the callback.
  [[nodiscard]] Status Explore(const Unit& unit);

 private:
  // Directly below a situation, or a unit.
  struct Reached {
    std::uint64_t states = 0;
    std::uint64_t windows = 0;
    std::uint64_t whole = 0;
  };
  void Count(const Reached& reached);

  // What these return says whether everything below was good; `reached` is added to.
  [[nodiscard]] Result<bool> AfterCrash(const Situation& situation, unsigned power_left);
  [[nodiscard]] Result<bool> Judge(const Situation& situation, unsigned power_left,
                                   Reached& reached);
  [[nodiscard]] Result<bool> LosePower(const Recording& recording, const CrashPoint& point,
                                       const std::string& promised_before, unsigned power_left,
                                       Reached& reached);
  [[nodiscard]] Result<bool> Fails(const Verdict& verdict);

  const ExploreSpec& spec_;
  const Recording& workload_;
  const Model& model_;
  const ContentStore& store_;
  Prober& prober_;
  SharedState& shared_;
  OnViolation on_violation_;
  Plan plan_;  // That of the situation being tried.
};

}  // namespace tornfs::harness
