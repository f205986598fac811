// ExploreOutcome: what an exploration, or a shard of one, came to. Made by the coordinator, written
// to a file for shards, and put together by merge.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "fusefs/core/state_count.h"
#include "harness/explore/finding.h"

namespace tornfs::harness {

// Failures beyond so many kinds are counted and not written up.
inline constexpr std::size_t kMaxKinds = 64;
// Of each kind and crash point so many failing states are kept as plans.
inline constexpr std::size_t kMaxFailingPlans = 32;

// Units are dealt out in turn: shard `index` of `count` has those whose number leaves that rest.
struct Shard {
  std::uint64_t index = 0;
  std::uint64_t count = 1;
  [[nodiscard]] bool Has(std::uint64_t unit) const { return unit % count == index; }
};

struct ExploreOutcome {
  struct Kind {
    Finding finding;
    std::uint64_t unit = 0;    // The lowest that showed it.
    std::uint64_t order = 0;   // Among the kinds first shown there.
    std::uint64_t states = 0;  // Crash states that fail like this.
    // By unit, plans of states that fail like this: the first kMaxFailingPlans of each.
    std::map<std::uint64_t, std::vector<std::string>> failing;
  };
  std::map<std::string, Kind> findings;  // By signature.
  // Failing states of the kinds beyond those, by signature.
  std::map<std::string, std::uint64_t> more_kinds;
  Shard shard;
  std::uint64_t units = 0;  // Done.
  std::uint64_t all_units = 0;
  std::uint64_t states = 0;
  std::uint64_t tried = 0;
  std::uint64_t known = 0;
  // How it was done, and what kept it from being done lazily; empty: nothing.
  Strategy strategy = Strategy::kLazy;
  std::string difference;
  // Of lazy exploration alone. Legal states at the crash points done; those of `uncounted` crash
  // points are too many to be counted.
  BigCount legal;
  std::uint64_t uncounted = 0;
  std::uint64_t leaves = 0;
  std::uint64_t shared = 0;
  std::uint64_t audited = 0;
  std::uint64_t overdecided = 0;
  bool concurrent = false;
  std::uint64_t distinct_good = 0;
  std::uint64_t runs = 0;
  std::uint64_t violations = 0;
  std::uint64_t windows = 0;
  std::uint64_t whole = 0;
  std::uint64_t cannot_judge = 0;
  std::uint64_t stragglers = 0;
  std::uint64_t left_outside = 0;  // Runs that left files in /tmp or /dev/shm.
  std::string cannot_judge_why;    // At the lowest unit where it was so.
  std::uint64_t cannot_judge_unit = UINT64_MAX;
  bool nothing_to_judge = false;  // No check, and no claim to hold states against.
  std::optional<Error> error;     // A worker could not go on.
  bool interrupted = false;       // Ctrl-C or SIGTERM.
  bool out_of_time = false;
  std::chrono::milliseconds elapsed{0};
};

// Keeps the first kMaxKinds kinds that were written up, by unit and order.
void LimitKinds(ExploreOutcome& outcome);

// Every plan in `kind.failing`, by unit.
[[nodiscard]] std::vector<Plan> FailingPlans(const ExploreOutcome::Kind& kind);

[[nodiscard]] nlohmann::json OutcomeToJson(const ExploreOutcome& outcome);
// Errors: kCorrupt.
[[nodiscard]] Result<ExploreOutcome> OutcomeFromJson(const nlohmann::json& json);

// What one exploration of all the shards would have come to, figures that depend on who ran what
// aside. Errors: kInvalid when the shards do not make up one exploration, or were explored by
// different strategies.
[[nodiscard]] Result<ExploreOutcome> Merge(const std::vector<ExploreOutcome>& shards);

}  // namespace tornfs::harness
