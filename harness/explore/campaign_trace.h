// The trace of a campaign: its recording as a file, with what was asked for and
// what was seen while it was made. Whoever reads it can explore, replay and
// shrink without the workload.
#pragma once

#include <memory>
#include <string>

#include "harness/explore/campaign.h"

namespace tornfs::harness {

// What a trace file holds.
struct LoadedTrace {
  ExploreSpec spec;  // What it was recorded for.
  std::unique_ptr<ContentStore> store;
  std::shared_ptr<const Recording> recording;
  bool syncs_seen = true;
  bool left_outside = false;
  std::set<std::string> outside_writes;
};

// `path` is a trace, or the output directory of an exploration. Errors:
// kNotFound, kCorrupt, kIo.
[[nodiscard]] Result<LoadedTrace> LoadTrace(const std::string& path);

// A campaign on that recording for another wish. Under another model than it
// was recorded for, its ops are made again to see what that makes durable.
// Errors: as Prepare.
[[nodiscard]] Result<Campaign> CampaignOf(LoadedTrace trace, ExploreSpec spec);

// The campaign that a trace was written for. Errors: as LoadTrace.
[[nodiscard]] Result<Campaign> LoadCampaign(const std::string& path);
[[nodiscard]] Status SaveCampaign(const Campaign& campaign, const std::string& path);

}  // namespace tornfs::harness
