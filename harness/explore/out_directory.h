// The output directory of an exploration: stats.json, events.jsonl, trace, findings/.
#pragma once

#include <string>

#include "common/result.h"
#include "harness/explore/campaign.h"

namespace tornfs::harness {

inline constexpr const char* kDefaultOut = "tornfs-out";

// Makes `directory` ready: new, empty, or one that an earlier exploration left, whose results are
// removed. Errors: kInvalid for a directory that holds anything else, kIo.
[[nodiscard]] Status PrepareOut(const std::string& directory);

// A finding of `directory` by its id, or by a path to its folder. Errors: kNotFound.
[[nodiscard]] Result<std::string> FindFinding(const std::string& directory, const std::string& id);

// The campaign a trace was written for. Errors: kNotFound, kCorrupt.
[[nodiscard]] Result<Campaign> LoadCampaign(const std::string& trace_path);
[[nodiscard]] Status SaveCampaign(const Campaign& campaign, const std::string& trace_path);

}  // namespace tornfs::harness
