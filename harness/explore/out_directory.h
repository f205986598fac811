// The output directory of an exploration: stats.json, events.jsonl, trace, findings/, reports.
#pragma once

#include <string>

#include "common/fd.h"
#include "common/result.h"

namespace tornfs::harness {

inline constexpr const char* kDefaultOut = "tornfs-out";

// Makes `directory` ready: new, empty, or one that an earlier exploration left, whose results are
// removed. The descriptor locks it for as long as it is open, here or in a child.
// Errors: kInvalid for a directory that holds anything else, which is left as it is; kBusy when
// another exploration has it; kIo.
[[nodiscard]] Result<Fd> PrepareOut(const std::string& directory);

// A finding of `directory` by its id, or by a path to its folder. Errors: kNotFound.
[[nodiscard]] Result<std::string> FindFinding(const std::string& directory, const std::string& id);

}  // namespace tornfs::harness
