// tornfs merge: puts the results of shards together.
#include <boost/program_options.hpp>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "common/log.h"
#include "harness/commands.h"
#include "harness/explore/campaign_trace.h"
#include "harness/explore/out_directory.h"
#include "harness/explore/results.h"
#include "harness/explore/summary.h"
#include "harness/printing.h"

namespace tornfs::harness {
namespace {

namespace po = boost::program_options;
namespace fs = std::filesystem;

void Describe(po::options_description&, std::vector<Positional>& positionals) {
  positionals.push_back({"OUT", true});
  positionals.push_back({"DIR...", true});
}

// What must be the same in all shards.
Status MustBeOne(const std::vector<std::string>& folders, const Campaign& campaign) {
  const nlohmann::json wanted = SpecToJson(campaign.spec);
  for (const std::string& folder : folders) {
    const auto other = LoadCampaign(folder);
    if (!other) return tl::make_unexpected(other.error());
    if (other->history != campaign.history) {
      return Fail(ErrorCode::kInvalid, folder + " explored another recording than " +
                                           folders.front() +
                                           "; record once, and give --from to every shard");
    }
    if (SpecToJson(other->spec) != wanted) {
      return Fail(ErrorCode::kInvalid,
                  folder + " was explored with other options than " + folders.front());
    }
  }
  return {};
}

Status CopyFindings(const ExploreOutcome& outcome, const std::vector<std::string>& folders,
                    const std::string& out) {
  for (const auto& [signature, kind] : outcome.findings) {
    const std::string name = "/findings/" + kind.finding.id;
    std::error_code error;
    for (const std::string& folder : folders) {
      if (!fs::exists(folder + name, error) || fs::exists(out + name, error)) continue;
      fs::copy(folder + name, out + name,
               fs::copy_options::recursive | fs::copy_options::copy_symlinks, error);
      if (error) return IoError(error.value(), folder + name);
    }
  }
  return {};
}

Result<int> Merged(const ParsedCommand& parsed) {
  const std::string& out = parsed.positionals.front();
  const std::vector<std::string> folders(parsed.positionals.begin() + 1, parsed.positionals.end());
  std::vector<ExploreOutcome> shards;
  for (const std::string& folder : folders) {
    auto shard = LoadShard(folder);
    if (!shard) return tl::make_unexpected(shard.error());
    shards.push_back(std::move(*shard));
  }
  auto campaign = LoadCampaign(folders.front());
  if (!campaign) return tl::make_unexpected(campaign.error());
  auto outcome = Merge(shards);
  if (!outcome) return tl::make_unexpected(outcome.error());
  Status done = MustBeOne(folders, *campaign);
  if (!done) return tl::make_unexpected(done.error());
  const auto lock = PrepareOut(out);
  if (!lock) return tl::make_unexpected(lock.error());
  done = SaveCampaign(*campaign, out + "/trace");
  if (done) done = CopyFindings(*outcome, folders, out);
  if (done) done = WriteResults(*campaign, *outcome, out);
  if (!done) return tl::make_unexpected(done.error());
  if (parsed.json) {
    const auto replace = nlohmann::json::error_handler_t::replace;
    std::cout << StatsJson(*campaign, *outcome).dump(-1, ' ', false, replace) << "\n";
  } else {
    std::cout << SummaryText(*campaign, *outcome, out);
  }
  return ExitCodeOf(*outcome);
}

int Run(const ParsedCommand& parsed) {
  if (!CanPrint()) return kExitInconclusive;
  const auto code = Merged(parsed);
  if (code) return AfterPrinting(*code);
  LogError(code.error().Message());
  const bool refused = code.error().code == ErrorCode::kInvalid ||
                       code.error().code == ErrorCode::kNotFound ||
                       code.error().code == ErrorCode::kBusy;
  return refused ? kExitUsage : kExitInconclusive;
}

}  // namespace

const Command kMergeCommand{
    "merge",
    "put the results of shards together",
    "OUT DIR...",
    "Each DIR is the output directory of `explore --shard I/N`, all N of them, of one trace with\n"
    "equal options. OUT gets what one exploration would have left; fields under \"timing\" are\n"
    "sums. Ends with the exit status of that exploration.",
    TakesChild::kNone,
    Describe,
    Run};

}  // namespace tornfs::harness
