#include "harness/explore_request.h"

#include <boost/program_options.hpp>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/log.h"
#include "common/units.h"
#include "harness/cpu.h"
#include "harness/explore/out_directory.h"
#include "harness/on/trace.h"

namespace tornfs::harness {
namespace {

namespace po = boost::program_options;

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

// The programs and the place of the workload. Those of a trace stay, and what
// it was recorded with.
Status TakeWorkload(const ParsedCommand& parsed, ExploreSpec& spec) {
  const po::variables_map& options = parsed.options;
  spec.workload = parsed.child;
  spec.import_directory = Text(options, "import");
  spec.setup = Text(options, "setup");
  spec.user = Text(options, "user");
  spec.origin = std::filesystem::current_path();
  spec.mount_path = options.count("at") > 0
                        ? std::filesystem::absolute(Text(options, "at")).string()
                        : DefaultWorldPath();
  if (spec.workload.empty()) {
    return Fail(ErrorCode::kInvalid, "needs a command behind '--', or --from TRACE");
  }
  std::error_code ignored;
  if (const std::string& import = spec.import_directory;
      !import.empty() && !std::filesystem::is_directory(import, ignored)) {
    return Fail(ErrorCode::kInvalid, import + ": not a directory");
  }
  return {};
}

Status TakeTrace(const ParsedCommand& parsed, ExploreRequest& request) {
  if (!parsed.child.empty()) {
    return Fail(ErrorCode::kInvalid, "--from has its workload; none can stand behind '--'");
  }
  for (const char* name : {"import", "setup", "at", "user"}) {
    if (parsed.options.count(name) == 0) continue;
    return Fail(ErrorCode::kInvalid, std::string("--") + name + " is that of the trace of --from");
  }
  if (const Status other = MustNotBeOnTrace(Text(parsed.options, "from")); !other) return other;
  auto trace = LoadTrace(Text(parsed.options, "from"));
  if (!trace) return tl::make_unexpected(trace.error());
  request.spec = trace->spec;
  request.from = std::move(*trace);
  // What the user writes now is relative to where he stands now.
  const bool programs = parsed.options.count("check") + parsed.options.count("recover") > 0;
  if (programs) request.spec.origin = std::filesystem::current_path();
  return {};
}

// What can be asked of a trace as well. With one, only what was given.
Status TakeWishes(const po::variables_map& options, ExploreRequest& request) {
  ExploreSpec& spec = request.spec;
  const auto given = [&](const char* name) {
    return options.count(name) > 0 && (!request.from || !options[name].defaulted());
  };
  if (given("recover")) spec.recover = Text(options, "recover");
  if (given("check")) spec.check = Text(options, "check");
  if (given("tear")) {
    auto tear = ParseTear(Text(options, "tear"));
    if (!tear) return tl::make_unexpected(tear.error());
    spec.tear = *tear;
  }
  if (given("model")) {
    const auto model = FindModel(Text(options, "model"));
    if (!model) return tl::make_unexpected(model.error());
    const bool built_in = (*model)->name == Text(options, "model");
    spec.model = (*model)->name;
    spec.model_text = built_in ? "" : (*model)->source;
  }
  Status taken;
  if (given("faults")) taken = TakeWord(options, "faults", "power", "kill,power", spec.kill);
  if (taken && given("crash-points")) {
    taken = TakeWord(options, "crash-points", "needed", "all", spec.every_op);
  }
  if (taken && given("depth")) taken = TakeNumber(options, "depth", 1, 5, spec.depth);
  if (taken && given("seed")) taken = TakeNumber(options, "seed", 0, UINT64_MAX, spec.seed);
  if (taken && given("window-states")) {
    taken = TakeNumber(options, "window-states", 2, 1U << 20, spec.states_per_window);
  }
  if (taken && given("audit")) taken = TakePercent(options, "audit", spec.audit);
  if (!taken || !given("strategy")) return taken;
  auto strategy = ParseStrategy(Text(options, "strategy"));
  if (!strategy) return tl::make_unexpected(strategy.error());
  spec.strategy = *strategy;
  return {};
}

Status TakeTimes(const po::variables_map& options, ExploreRequest& request) {
  if (!request.from || !options["timeout"].defaulted()) {
    auto timeout = ParseDuration(Text(options, "timeout"));
    if (!timeout) return tl::make_unexpected(timeout.error());
    request.spec.timeout = *timeout;
  }
  if (options.count("budget") == 0) return {};
  auto budget = ParseDuration(Text(options, "budget"));
  if (!budget) return tl::make_unexpected(budget.error());
  request.coordinator.budget = *budget;
  return {};
}

// "2/3", or what a test runner says by the variables that Bazel made common.
Status TakeShard(const po::variables_map& options, Shard& shard) {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  std::string number = variable("TEST_SHARD_INDEX");
  std::string count = variable("TEST_TOTAL_SHARDS");
  std::uint64_t first = 0;
  if (options.count("shard") > 0) {
    const std::string text = Text(options, "shard");
    const std::size_t slash = std::min(text.find('/'), text.size());
    number = text.substr(0, slash);
    count = slash == text.size() ? "" : text.substr(slash + 1);
    first = 1;
  } else if (number.empty() && count.empty()) {
    return {};
  }
  const auto parsed = ParseNumber(number);
  const auto of = ParseNumber(count);
  if (!parsed || !of || *parsed < first || *parsed - first >= *of) {
    return Fail(ErrorCode::kInvalid,
                first == 1 ? "--shard takes I/N, with I from 1 to N"
                           : "TEST_SHARD_INDEX must be a number below TEST_TOTAL_SHARDS");
  }
  shard = {*parsed - first, *of};
  return {};
}

Status TakeCoordination(const ParsedCommand& parsed, ExploreRequest& request) {
  request.out = Text(parsed.options, "out");
  if (request.out.empty()) return Fail(ErrorCode::kInvalid, "--out needs a directory");
  request.coordinator.findings_folder =
      std::filesystem::absolute(request.out).string() + "/findings";
  request.coordinator.progress = !parsed.json;
  request.coordinator.jobs = static_cast<unsigned>(AvailableCores().size());
  auto taken = TakeNumber(parsed.options, "jobs", 1, 256, request.coordinator.jobs);
  if (taken) taken = TakeShard(parsed.options, request.coordinator.shard);
  if (!request.on && request.coordinator.jobs > 1 && !MayUseNamespaces()) {
    LogWarning("without root there is one worker: several need private mounts");
    request.coordinator.jobs = 1;
  }
  return taken;
}

// Errors: kInvalid for an option that says how states of a model are explored.
Status RefuseWithOn(const ParsedCommand& parsed) {
  const po::variables_map& options = parsed.options;
  for (const char* name :
       {"from", "model", "tear", "strategy", "audit", "crash-points", "window-states", "shard"}) {
    if (options.count(name) == 0 || options[name].defaulted()) continue;
    return Fail(ErrorCode::kInvalid, std::string("--") + name + " means nothing with --on");
  }
  for (const auto& [name, only] : {std::pair{"faults", "power"}, {"depth", "1"}}) {
    if (Text(options, name) == only) continue;
    return Fail(ErrorCode::kInvalid, std::string("with --on, --") + name + " is " + only);
  }
  return {};
}

// A real filesystem instead of a model.
Status TakeOn(const ParsedCommand& parsed, ExploreRequest& request) {
  const po::variables_map& options = parsed.options;
  if (options.count("on") == 0) {
    for (const char* name : {"schedules", "images"}) {
      if (options[name].defaulted()) continue;
      return Fail(ErrorCode::kInvalid, std::string("--") + name + " goes with --on");
    }
    return {};
  }
  if (const Status refused = RefuseWithOn(parsed); !refused) return refused;
  auto filesystem = FindRoomyFilesystem(Text(options, "on"));
  if (!filesystem) return tl::make_unexpected(filesystem.error());
  auto schedules = ParseProgramSchedules(Text(options, "schedules"));
  if (!schedules) return tl::make_unexpected(schedules.error());
  OnSpec on;
  on.filesystem = std::move(*filesystem);
  on.schedules = std::move(*schedules);
  for (const Schedule schedule : on.schedules) {
    if (Applies(schedule, on.filesystem)) continue;
    return Fail(ErrorCode::kInvalid,
                "schedule T: the interval of " + on.filesystem.name + " is the machine's");
  }
  const Status taken = TakeNumber(options, "images", 1, 1U << 20, on.images);
  if (!taken) return taken;
  request.on = std::move(on);
  return {};
}

// Errors: kInvalid for what cannot be judged, or not by so many at once.
Status CompleteOn(ExploreRequest& request, bool jobs_given) {
  if (!request.on) return {};
  if (request.spec.check.empty() && request.spec.recover.empty()) {
    return Fail(ErrorCode::kInvalid, "--on needs --check or --recover: nothing else judges there");
  }
  if (request.coordinator.shard.count > 1) {
    return Fail(ErrorCode::kInvalid, "--on takes no shard (TEST_TOTAL_SHARDS)");
  }
  // Mounting waits for the kernel more than it computes.
  if (!jobs_given) request.coordinator.jobs *= 2;
  if (request.coordinator.jobs > 1 && !MountsCopies(request.on->filesystem)) {
    LogWarning("this kernel mounts one copy of a " + request.on->filesystem.type +
               " at a time: there is one worker");
    request.coordinator.jobs = 1;
  }
  return {};
}

// Errors: kInvalid for a wish that this machine or a file of results could not
// take down.
Status MustBePossible(const ExploreSpec& spec) {
  try {
    (void)SpecToJson(spec).dump();
  } catch (const nlohmann::json::exception&) {
    return Fail(ErrorCode::kInvalid, "a command or path is not valid UTF-8");
  }
  if (spec.user.empty()) return {};
  if (auto user = LookUpUser(spec.user); !user) return tl::make_unexpected(user.error());
  if (!MayUseNamespaces()) return Fail(ErrorCode::kInvalid, "--user needs root");
  return {};
}

}  // namespace

void DescribeExplore(po::options_description& options, std::vector<Positional>&) {
  auto add = options.add_options();
  add("from", po::value<std::string>(),
      "a trace, or what --out of an earlier exploration named: explore that, "
      "run no workload");
  add("import", po::value<std::string>(), "start from a copy of this directory");
  add("on", po::value<std::string>(),
      "a real filesystem of this kernel instead of a model: ext4, xfs or btrfs, with mount options "
      "behind commas");
  add("schedules", po::value<std::string>()->default_value("SFWD"),
      "with --on: what happens around the workload, some of S, F, W, D and T");
  add("images", po::value<std::string>()->default_value("1000"),
      "with --on: try so many crash images");
  add("setup", po::value<std::string>(), "run this first; what it leaves is durable");
  add("at", po::value<std::string>(), "where the world appears (default /run/tornfs-world)");
  add("model", po::value<std::string>()->default_value("posix"),
      "persistence model: a name that `tornfs models` lists, or a file");
  add("tear", po::value<std::string>()->default_value("page"), "none, page, sector or byte");
  add("faults", po::value<std::string>()->default_value("power"), "power, or kill,power");
  add("depth", po::value<std::string>()->default_value("1"), "power losses in a row");
  add("strategy", po::value<std::string>()->default_value("lazy"),
      "lazy: every state that recovery or check can tell apart; systematic: "
      "small windows whole, "
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
  add("jobs", po::value<std::string>(),
      "workers, each on a core of its own (default: all cores; with --on two for each)");
  add("shard", po::value<std::string>(),
      "I/N: only every N-th crash point, from the I-th on; merge puts N results together");
  add("user", po::value<std::string>(), "run the programs as this user");
  add("out", po::value<std::string>()->default_value(kDefaultOut), "where results are written");
  add("recover", po::value<std::string>(), "the program's own recovery, run after each crash");
  add("check", po::value<std::string>(), "judges each state: 0 good, anything else a violation");
}

Result<ExploreRequest> ParseExplore(const ParsedCommand& parsed) {
  ExploreRequest request;
  Status taken = parsed.options.count("from") > 0 ? TakeTrace(parsed, request)
                                                  : TakeWorkload(parsed, request.spec);
  if (taken) taken = TakeOn(parsed, request);
  if (taken) taken = TakeWishes(parsed.options, request);
  if (taken) taken = TakeTimes(parsed.options, request);
  if (taken) taken = MustBePossible(request.spec);
  if (taken) taken = TakeCoordination(parsed, request);
  if (taken) taken = CompleteOn(request, parsed.options.count("jobs") > 0);
  if (!taken) return tl::make_unexpected(taken.error());
  return request;
}

}  // namespace tornfs::harness
