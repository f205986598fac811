// A finding in one sentence: what was lost, which call made it, and which call did not come in
// time.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harness/explore/plan_run.h"

namespace tornfs::harness {

// One op of which something was lost in a power loss.
struct Loss {
  OpNumber op = 0;
  OpKind kind = OpKind::kWrite;
  std::string path;
  std::string to;             // rename, link: the other path.
  bool whole = true;          // All that the op did and was not durable is lost.
  bool size_kept = false;     // A write: the size it gave the file is there, bytes are not.
  std::uint64_t bytes = 0;    // A write: bytes lost.
  std::uint64_t torn_at = 0;  // A write cut inside a page: how many bytes of that page are there.
};

// In the order of ops; empty if nothing was lost. What is lost only because something that it needs
// was lost is left out.
[[nodiscard]] std::vector<Loss> LossesOf(const PlanRun& run, const PowerLossSeen& seen);
// Those of every power loss of the plan, the first one's first.
[[nodiscard]] std::vector<Loss> AllLosses(const PlanRun& run);

// "`j/frontier.tmp -> j/frontier` was renamed at op 7, the directory `j` was not synced before the
// power was cut at op 12; the rename was lost"
[[nodiscard]] std::string Explain(const Plan& plan, const PlanRun& run);

// The history up to the crash, a line per op, with what was durable, pending, kept and lost.
[[nodiscard]] std::string Timeline(const Plan& plan, const PlanRun& run);

}  // namespace tornfs::harness
