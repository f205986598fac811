// The files that an exploration leaves beside its trace and its findings' folders.
#pragma once

#include <string>

#include "harness/explore/coordinator.h"

namespace tornfs::harness {

// Looks for the barrier that would help for each finding, which changes `outcome`, and writes
// stats.json, events.jsonl, report.html, report.json, junit.xml and, for a shard, shard.json into
// `out`, where the findings are. Errors: kIo.
[[nodiscard]] Status WriteResults(const Campaign& campaign, ExploreOutcome& outcome,
                                  const std::string& out);

// The outcome of the shard that left its results in `out`. Errors: kNotFound, kCorrupt, kIo.
[[nodiscard]] Result<ExploreOutcome> LoadShard(const std::string& out);

}  // namespace tornfs::harness
