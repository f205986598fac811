// tornfs explore: record once, crash everywhere.
#include <unistd.h>

#include <boost/program_options.hpp>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "common/fd.h"
#include "common/log.h"
#include "common/units.h"
#include "harness/commands.h"
#include "harness/cpu.h"
#include "harness/explore/coordinator.h"
#include "harness/explore/interrupt.h"
#include "harness/explore/out_directory.h"
#include "harness/explore/summary.h"
#include "harness/printing.h"
#include "harness/sandbox.h"

namespace tornfs::harness {
namespace {

namespace po = boost::program_options;

struct Request {
  ExploreSpec spec;
  CoordinatorOptions coordinator;
  std::string out;
};

void Describe(po::options_description& options, std::vector<Positional>&) {
  auto add = options.add_options();
  add("import", po::value<std::string>(), "start from a copy of this directory");
  add("setup", po::value<std::string>(), "run this first; what it leaves is durable");
  add("at", po::value<std::string>(), "where the world appears (default /run/tornfs-world)");
  add("model", po::value<std::string>()->default_value("posix"),
      "persistence model: a name that `tornfs models` lists, or a file");
  add("tear", po::value<std::string>()->default_value("page"), "none, page, sector or byte");
  add("faults", po::value<std::string>()->default_value("power"), "power, or kill,power");
  add("depth", po::value<std::string>()->default_value("1"), "power losses in a row");
  add("strategy", po::value<std::string>()->default_value("lazy"),
      "lazy: every state that recovery or check can tell apart; systematic: small windows whole, "
      "families of states of larger ones; random: samples");
  add("audit", po::value<std::string>()->default_value("1"),
      "percent of the results known without a run that are run all the same");
  add("crash-points", po::value<std::string>()->default_value("needed"), "needed, or all ops");
  add("window-states", po::value<std::string>()->default_value("256"),
      "states tried at a crash point that has more");
  add("seed", po::value<std::string>()->default_value("1"), "of everything random");
  add("budget", po::value<std::string>(), "stop exploring after this time");
  add("timeout", po::value<std::string>()->default_value("60s"),
      "for each run; a check that takes longer is a violation");
  add("jobs", po::value<std::string>(), "workers, each on a core of its own (default: all cores)");
  add("user", po::value<std::string>(), "run the programs as this user");
  add("out", po::value<std::string>()->default_value(kDefaultOut), "where results are written");
  add("recover", po::value<std::string>(), "the program's own recovery, run after each crash");
  add("check", po::value<std::string>(), "judges each state: 0 good, anything else a violation");
}

std::string Text(const po::variables_map& options, const char* name) {
  return options.count(name) > 0 ? options[name].as<std::string>() : std::string();
}

template <class Number>
Status TakeNumber(const po::variables_map& options, const char* name, std::uint64_t lowest,
                  std::uint64_t highest, Number& into) {
  if (options.count(name) == 0) return {};
  auto value = ParseNumber(Text(options, name));
  if (!value || *value < lowest || *value > highest) {
    return Fail(ErrorCode::kInvalid, std::string("--") + name + " takes a number from " +
                                         std::to_string(lowest) + " to " + std::to_string(highest));
  }
  into = static_cast<Number>(*value);
  return {};
}

Status TakeWord(const po::variables_map& options, const char* name, const char* no, const char* yes,
                bool& into) {
  const std::string word = Text(options, name);
  if (word != no && word != yes) {
    return Fail(ErrorCode::kInvalid,
                std::string("--") + name + " is " + no + " or " + yes + ", not '" + word + "'");
  }
  into = word == yes;
  return {};
}

// A percentage, in hundredths of a percent.
Status TakePercent(const po::variables_map& options, const char* name, std::uint64_t& into) {
  const std::string text = Text(options, name);
  double percent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
  if (error != std::errc() || end != text.data() + text.size() || !(percent >= 0) ||
      percent > 100) {
    return Fail(ErrorCode::kInvalid, std::string("--") + name + " takes a number from 0 to 100");
  }
  into = static_cast<std::uint64_t>(std::llround(percent * 100));
  return {};
}

Status TakeTimes(const po::variables_map& options, Request& request) {
  auto timeout = ParseDuration(Text(options, "timeout"));
  if (!timeout) return tl::make_unexpected(timeout.error());
  request.spec.timeout = *timeout;
  if (options.count("budget") == 0) return {};
  auto budget = ParseDuration(Text(options, "budget"));
  if (!budget) return tl::make_unexpected(budget.error());
  request.coordinator.budget = *budget;
  return {};
}

Status TakeNumbers(const po::variables_map& options, Request& request) {
  request.coordinator.jobs = static_cast<unsigned>(AvailableCores().size());
  Status taken = TakeNumber(options, "depth", 1, 5, request.spec.depth);
  if (taken) taken = TakeNumber(options, "seed", 0, UINT64_MAX, request.spec.seed);
  if (taken) {
    taken = TakeNumber(options, "window-states", 2, 1U << 20, request.spec.states_per_window);
  }
  if (taken) taken = TakePercent(options, "audit", request.spec.audit);
  if (taken) taken = TakeNumber(options, "jobs", 1, 256, request.coordinator.jobs);
  return taken;
}

Result<Request> Parse(const ParsedCommand& parsed) {
  const po::variables_map& options = parsed.options;
  Request request;
  ExploreSpec& spec = request.spec;
  spec.workload = parsed.child;
  spec.import_directory = Text(options, "import");
  spec.setup = Text(options, "setup");
  spec.recover = Text(options, "recover");
  spec.check = Text(options, "check");
  spec.user = Text(options, "user");
  spec.model = Text(options, "model");
  spec.origin = std::filesystem::current_path();
  spec.mount_path = options.count("at") > 0
                        ? std::filesystem::absolute(Text(options, "at")).string()
                        : DefaultWorldPath();
  request.out = Text(options, "out");
  if (request.out.empty()) return Fail(ErrorCode::kInvalid, "--out needs a directory");
  request.coordinator.findings_folder =
      std::filesystem::absolute(request.out).string() + "/findings";
  request.coordinator.progress = !parsed.json;
  auto tear = ParseTear(Text(options, "tear"));
  if (!tear) return tl::make_unexpected(tear.error());
  spec.tear = *tear;
  const auto model = FindModel(spec.model);
  if (!model) return tl::make_unexpected(model.error());
  if ((*model)->name != spec.model) {
    spec.model = (*model)->name;
    spec.model_text = (*model)->source;
  }
  try {
    (void)SpecToJson(spec).dump();
  } catch (const nlohmann::json::exception&) {
    return Fail(ErrorCode::kInvalid, "a command or path is not valid UTF-8");
  }
  if (spec.check.empty() && spec.recover.empty()) {
    return Fail(ErrorCode::kInvalid,
                "nothing would be judged: give --check, or --recover, or both");
  }
  if (!spec.user.empty()) {
    if (auto user = LookUpUser(spec.user); !user) return tl::make_unexpected(user.error());
    if (!MayUseNamespaces()) return Fail(ErrorCode::kInvalid, "--user needs root");
  }
  std::error_code ignored;
  if (const std::string& import = spec.import_directory;
      !import.empty() && !std::filesystem::is_directory(import, ignored)) {
    return Fail(ErrorCode::kInvalid, import + ": not a directory");
  }
  Status taken = TakeWord(options, "faults", "power", "kill,power", spec.kill);
  if (taken) taken = TakeWord(options, "crash-points", "needed", "all", spec.every_op);
  if (taken) taken = TakeNumbers(options, request);
  if (taken) taken = TakeTimes(options, request);
  if (!taken) return tl::make_unexpected(taken.error());
  auto strategy = ParseStrategy(Text(options, "strategy"));
  if (!strategy) return tl::make_unexpected(strategy.error());
  spec.strategy = *strategy;
  if (request.coordinator.jobs > 1 && !MayUseNamespaces()) {
    LogWarning("without root there is one worker: several need private mounts");
    request.coordinator.jobs = 1;
  }
  return request;
}

int ExitFor(const Error& error) {
  LogError(error.Message());
  if (error.code == ErrorCode::kMissing) return kExitMissing;
  const bool refused = error.code == ErrorCode::kInvalid || error.code == ErrorCode::kBusy;
  return refused ? kExitUsage : kExitInconclusive;
}

// Records in this process, on a stage that is gone when this returns: workers are forked later.
Result<std::optional<RecordFailure>> RecordCampaign(Campaign& campaign) {
  if (auto made = MakeDirectories(campaign.spec.mount_path); !made) {
    return tl::make_unexpected(made.error());
  }
  if (MayUseNamespaces()) {
    if (auto entered = EnterPrivateNamespaces(); !entered) {
      return tl::make_unexpected(entered.error());
    }
  }
  CatchInterrupts();
  const std::vector<int> cores = AvailableCores();
  StageOptions options = campaign.Options(cores.front());
  options.watch_outside = options.read_only_outside;
  auto stage = Stage::Open(*campaign.store, *campaign.model, options);
  if (!stage) return tl::make_unexpected(stage.error());
  std::optional<RecordFailure> failure;
  if (auto recorded = Record(campaign, **stage, failure); !recorded) {
    return tl::make_unexpected(recorded.error());
  }
  return failure;
}

int Explore(const ParsedCommand& parsed, const Request& request) {
  auto campaign = Prepare(request.spec);
  if (!campaign) return UsageError(parsed, campaign.error().Message());
  const auto lock = PrepareOut(request.out);
  if (!lock) return ExitFor(lock.error());
  auto failure = RecordCampaign(*campaign);
  if (!failure) return ExitFor(failure.error());
  if (*failure) {
    (void)WriteAll(STDERR_FILENO, (*failure)->output);
    LogError((*failure)->what);
    return kExitInconclusive;
  }
  if (auto saved = SaveCampaign(*campaign, request.out + "/trace"); !saved) {
    return ExitFor(saved.error());
  }
  if (!parsed.json) {
    LogInfo("recorded " + std::to_string(campaign->workload->ops.size()) + " ops and " +
            std::to_string(campaign->workload->promises.size()) + " promises; exploring with " +
            std::to_string(request.coordinator.jobs) + " worker(s)");
  }
  auto outcome = Coordinate(*campaign, request.coordinator);
  if (!outcome) return ExitFor(outcome.error());
  const nlohmann::json stats = StatsJson(*campaign, *outcome);
  const auto replace = nlohmann::json::error_handler_t::replace;
  Status written =
      WriteFile(request.out + "/stats.json", stats.dump(2, ' ', false, replace) + "\n");
  if (written) {
    written = WriteFile(request.out + "/events.jsonl", EventsText(*campaign->workload));
  }
  if (!written) return ExitFor(written.error());
  if (parsed.json) {
    std::cout << stats.dump(-1, ' ', false, replace) << "\n";
  } else {
    std::cout << SummaryText(*campaign, *outcome, request.out);
  }
  const bool missing = outcome->error && outcome->error->code == ErrorCode::kMissing;
  return AfterPrinting(missing ? kExitMissing : ExitCodeOf(*outcome));
}

int Run(const ParsedCommand& parsed) {
  if (!CanPrint()) return kExitInconclusive;
  auto request = Parse(parsed);
  if (!request) return UsageError(parsed, request.error().Message());
  return Explore(parsed, *request);
}

}  // namespace

const Command kExploreCommand{
    "explore",
    "run a workload once, then try its recovery after every crash the model allows",
    "[options] --check CMD -- WORKLOAD...",
    "Records WORKLOAD on a fresh mount. Every line it prints is a promise, at its place among the\n"
    "ops. Then, at every crash point and for the states that the persistence model allows there,\n"
    "runs recovery and check on the tree the crash left, with the promises made before the crash\n"
    "in the file that {promises} and TORNFS_PROMISES name.\n"
    "\n"
    "Exit status: 0 no violation, 1 violation, 2 usage, 3 inconclusive, 77 no FUSE.",
    TakesChild::kRequired,
    Describe,
    Run};

}  // namespace tornfs::harness
