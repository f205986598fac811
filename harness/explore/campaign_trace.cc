#include "harness/explore/campaign_trace.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "fusefs/core/trace.h"

namespace tornfs::harness {
namespace {

// Beside the spec in a trace's header.
constexpr const char* kRecorded = "recorded";

}  // namespace

Result<LoadedTrace> LoadTrace(const std::string& path) {
  std::error_code ignored;
  const bool folder = std::filesystem::is_directory(path, ignored);
  const std::string file = folder ? path + "/trace" : path;
  if (!std::filesystem::exists(file, ignored)) {
    return Fail(ErrorCode::kNotFound, file + ": there is no such trace");
  }
  LoadedTrace loaded;
  // The store must be there before the trace is read into it, the rest follows
  // from the header.
  auto store = ContentStore::Open({});
  if (!store) return tl::make_unexpected(store.error());
  loaded.store = std::move(*store);
  auto trace = ReadTrace(file, *loaded.store);
  if (!trace) return tl::make_unexpected(trace.error());
  const auto header = nlohmann::json::parse(trace->header, nullptr, false);
  auto spec = SpecFromJson(header);
  if (!spec) return tl::make_unexpected(spec.error());
  loaded.spec = std::move(*spec);
  try {
    // Traces of earlier versions do not say.
    const auto recorded = header.value(kRecorded, nlohmann::json::object());
    loaded.syncs_seen = recorded.value("syncs_seen", true);
    loaded.left_outside = recorded.value("left_outside", false);
    loaded.outside_writes = recorded.value("outside_writes", std::set<std::string>());
  } catch (const nlohmann::json::exception& error) {
    return Fail(ErrorCode::kCorrupt, path + ": " + error.what());
  }
  loaded.recording = std::make_shared<const Recording>(std::move(trace->recording));
  return loaded;
}

Result<Campaign> CampaignOf(LoadedTrace trace, ExploreSpec spec) {
  const bool same_model =
      spec.model == trace.spec.model && spec.model_text == trace.spec.model_text;
  auto campaign = Prepare(std::move(spec));
  if (!campaign) return campaign;
  campaign->store = std::move(trace.store);
  campaign->sees_syncs = trace.syncs_seen;
  campaign->left_outside = trace.left_outside;
  campaign->outside_writes = std::move(trace.outside_writes);
  auto recording = std::move(trace.recording);
  if (!same_model) {
    Engine engine(*campaign->store, *campaign->model, [] { return Nanoseconds{0}; });
    engine.Replay(*recording);
    recording = engine.TakeRecording();
  }
  SetWorkload(*campaign, std::move(recording));
  return campaign;
}

Result<Campaign> LoadCampaign(const std::string& path) {
  auto trace = LoadTrace(path);
  if (!trace) return tl::make_unexpected(trace.error());
  ExploreSpec spec = trace->spec;
  return CampaignOf(std::move(*trace), std::move(spec));
}

Status SaveCampaign(const Campaign& campaign, const std::string& path) {
  nlohmann::json header = SpecToJson(campaign.spec);
  header[kRecorded] = {{"syncs_seen", campaign.sees_syncs},
                       {"left_outside", campaign.left_outside},
                       {"outside_writes", campaign.outside_writes}};
  return WriteTrace(path, header.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
                    *campaign.workload, *campaign.store);
}

}  // namespace tornfs::harness
