#include "harness/explore/out_directory.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "fusefs/core/trace.h"

namespace tornfs::harness {
namespace {

namespace fs = std::filesystem;

// What an exploration may have left.
bool IsOurs(const std::string& name) {
  return name == "stats.json" || name == "events.jsonl" || name == "trace" || name == "findings";
}

}  // namespace

Status PrepareOut(const std::string& directory) {
  std::error_code error;
  if (fs::exists(directory, error)) {
    for (const auto& entry : fs::directory_iterator(directory, error)) {
      if (IsOurs(entry.path().filename())) continue;
      return Fail(ErrorCode::kInvalid,
                  directory + " holds other things than an earlier exploration (" +
                      entry.path().filename().string() + "); name another with --out");
    }
    if (error) return IoError(error.value(), directory);
    const fs::path findings = fs::path(directory) / "findings";
    const bool holds_some = fs::exists(findings) && !fs::is_empty(findings, error);
    if (holds_some && !fs::exists(fs::path(directory) / "trace")) {
      return Fail(ErrorCode::kInvalid, directory +
                                           " holds findings but no trace: nothing that an "
                                           "exploration left; name another with --out");
    }
    for (const char* name : {"stats.json", "events.jsonl", "trace", "findings"}) {
      fs::remove_all(fs::path(directory) / name, error);
      if (error) return IoError(error.value(), directory);
    }
  }
  return MakeDirectories(directory + "/findings");
}

Result<std::string> FindFinding(const std::string& directory, const std::string& id) {
  std::error_code error;
  for (const std::string& path : {directory + "/findings/" + id, id}) {
    if (fs::exists(path + "/finding.json", error)) return path;
  }
  return Fail(ErrorCode::kNotFound, "there is no finding '" + id + "' in " + directory);
}

Result<Campaign> LoadCampaign(const std::string& trace_path) {
  // The store must be there before the trace is read into it, the rest follows from the header.
  auto store = ContentStore::Open({});
  if (!store) return tl::make_unexpected(store.error());
  auto trace = ReadTrace(trace_path, **store);
  if (!trace) return tl::make_unexpected(trace.error());
  const auto header = nlohmann::json::parse(trace->header, nullptr, false);
  auto spec = SpecFromJson(header);
  if (!spec) return tl::make_unexpected(spec.error());
  auto campaign = Prepare(std::move(*spec));
  if (!campaign) return campaign;
  campaign->store = std::move(*store);
  campaign->workload = std::make_shared<const Recording>(std::move(trace->recording));
  campaign->history = campaign->workload->Name(*campaign->store).Hex().substr(0, 16);
  return campaign;
}

Status SaveCampaign(const Campaign& campaign, const std::string& trace_path) {
  return WriteTrace(trace_path, SpecToJson(campaign.spec).dump(), *campaign.workload,
                    *campaign.store);
}

}  // namespace tornfs::harness
