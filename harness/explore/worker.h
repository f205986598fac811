// Worker: one process of an exploration, with its own mount, namespaces and core. Takes units until
// none is left and reports through a pipe, a JSON object a line:
//
//   {"unit": 12, "failing": {"SIGNATURE": 3}, "plans": {"SIGNATURE": ["t1-..."]}, "legal": "96"}
//                                                  a unit is done; the number of its legal states
//                                                  is there if it was counted
//   {"unit": 12, "order": 2, "finding": {...}}     the first failure of its signature in this
//                                                  worker; the second kind that the unit showed
//   {"difference": "recovery: after ..."}          lazy exploration does not hold for these
//                                                  programs
//   {"error": {"code": "io", "message": "..."}}    the worker cannot go on
//
// Units are taken in rising order, so the lowest unit that shows a signature is always reported by
// the worker that had it: what is reported does not depend on how many workers there are. Nor does
// the limit on kinds: of the first kMaxKinds by unit and order, each is among the first kMaxKinds
// of the worker that had its lowest unit.
#pragma once

#include <string>

#include "harness/explore/campaign.h"
#include "harness/explore/outcome.h"
#include "harness/explore/run_board.h"
#include "harness/explore/shared_state.h"

namespace tornfs::harness {

struct WorkerTask {
  const Campaign& campaign;
  SharedState& shared;
  RunBoard& board;
  std::uint32_t number = 0;  // Of this worker.
  Strategy strategy = Strategy::kLazy;
  int core = -1;
  int pipe = -1;  // Write end.
  Shard shard;
  std::string findings_folder;  // Findings are written below it, in folders named by their id.
};

// The body of a worker process, to be called right after fork. Returns its exit code.
[[nodiscard]] int RunWorker(const WorkerTask& task);

}  // namespace tornfs::harness
