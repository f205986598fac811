// OracleExplorer: holds every crash state of the workload against the claims of the Oracle, for
// explorations with neither a recovery nor a check. No program is started.
//
// Each claim is followed by itself through a world in which nothing is decided: what it asks for
// splits the world, as the questions of a program do for the LazyExplorer, so every legal state is
// judged whatever their number, and independent files do not multiply. Where that is too much, and
// for torn pages, the states that Choose (choices.h) picks are held against all claims.
//
// Threads: none; one per worker process.
#pragma once

#include <functional>
#include <optional>

#include "fusefs/core/undecided.h"
#include "harness/explore/campaign.h"
#include "harness/explore/explorer.h"
#include "harness/explore/shared_state.h"

namespace tornfs::harness {

// What `oracle` says of the state that a crash at `point` left in `base`.
[[nodiscard]] Verdict VerdictOf(const Oracle& oracle, const Base& base, const CrashPoint& point);

class OracleExplorer {
 public:
  // As in LazyExplorer. A state that breaks several claims counts for the first of them.
  using OnViolation =
      std::function<Status(const Plan& plan, const Verdict& verdict, std::uint64_t states)>;

  // Requires that the campaign has an oracle.
  OracleExplorer(const Campaign& campaign, SharedState& shared, Strategy strategy,
                 OnViolation on_violation);

  // Errors: those of the callback.
  [[nodiscard]] Status Explore(const Unit& unit);
  // As LazyExplorer::legal().
  [[nodiscard]] const std::optional<BigCount>& legal() const { return legal_; }

 private:
  [[nodiscard]] Status LosePower(const CrashPoint& point);
  // Follows one claim; `leaves` is what it may still cost, 0 once it was too much.
  [[nodiscard]] Status Follow(const UndecidedWorld& world, const Claim& claim,
                              const CrashPoint& point, std::uint64_t& leaves);
  [[nodiscard]] Status TryFamilies(const Window& window, const CrashPoint& point, bool torn_only);
  [[nodiscard]] Status Broken(Step step, const Verdict& verdict, std::uint64_t states);

  const Campaign& campaign_;
  SharedState& shared_;
  Strategy strategy_;
  OnViolation on_violation_;
  std::optional<BigCount> legal_;
};

}  // namespace tornfs::harness
