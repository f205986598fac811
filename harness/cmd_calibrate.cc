// tornfs calibrate: holds the persistence models against real filesystems.
#include <unistd.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <chrono>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/fd.h"
#include "common/log.h"
#include "common/units.h"
#include "fusefs/core/model.h"
#include "harness/calibrate/calibration.h"
#include "harness/calibrate/escape.h"
#include "harness/calibrate/model_oracle.h"
#include "harness/calibrate/report.h"
#include "harness/commands.h"
#include "harness/cpu.h"
#include "harness/failure.h"
#include "harness/litmus/litmus_files.h"
#include "harness/live/machine.h"
#include "harness/sandbox.h"

namespace tornfs::harness {
namespace {

namespace po = boost::program_options;

// Mounting waits for the kernel more than it computes: several workers keep a core busy.
constexpr unsigned kJobsPerCore = 4;

void Describe(po::options_description& options, std::vector<Positional>&) {
  auto add = options.add_options();
  add("fs", po::value<std::vector<std::string>>()->composing(),
      "a filesystem, with mount options behind commas (ext4,nodelalloc); may be repeated; "
      "without it all that are built in");
  add("programs", po::value<std::vector<std::string>>()->composing(),
      "a .litmus or .json file, or a folder of litmus files; may be repeated; "
      "without it those of `tornfs litmus`");
  add("schedules", po::value<std::string>(), "some of S, F, W, D, T and I; without it all");
  add("model", po::value<std::string>(),
      "hold all of them against this model (a name or a file) instead of their own");
  add("images-per-run", po::value<std::string>(), "at most so many images of one run (150)");
  add("budget", po::value<std::string>(), "end after this time");
  add("images", po::value<std::string>(), "make rounds until so many images were mounted");
  add("seed", po::value<std::string>()->default_value("1"), "of random choices");
  add("jobs", po::value<std::string>(), "workers (four for each core)");
  add("out", po::value<std::string>()->default_value("tornfs-calibrate"),
      "where escapes are written");
  add("replay", po::value<std::string>(), "the folder of an escape: mount its image again");
}

std::vector<std::string> Texts(const po::variables_map& options, const char* name) {
  return options.count(name) > 0 ? options[name].as<std::vector<std::string>>()
                                 : std::vector<std::string>();
}

Status TakeFilesystems(const po::variables_map& options, CalibrationSpec& spec) {
  const std::vector<std::string> names = Texts(options, "fs");
  for (const std::string& name : names) {
    auto filesystem = FindFilesystem(name);
    if (!filesystem) return tl::make_unexpected(filesystem.error());
    spec.filesystems.push_back(std::move(*filesystem));
  }
  if (names.empty()) spec.filesystems.assign(Filesystems().begin(), Filesystems().end());
  if (options.count("model") == 0) return {};
  for (Filesystem& filesystem : spec.filesystems) {
    filesystem.model = options["model"].as<std::string>();
  }
  return {};
}

Status TakePrograms(const po::variables_map& options, CalibrationSpec& spec) {
  for (const std::string& file : Texts(options, "programs")) {
    auto programs = ReadPrograms(file);
    if (!programs) return Fail(ErrorCode::kInvalid, programs.error().Message());
    std::move(programs->begin(), programs->end(), std::back_inserter(spec.programs));
  }
  if (options.count("programs") > 0) return {};
  for (const EmbeddedFile& file : LitmusFiles()) {
    constexpr std::string_view kEnding = ".litmus";
    if (!file.name.ends_with(kEnding)) continue;
    auto program =
        ParseLitmusSteps(file.text, file.name.substr(0, file.name.size() - kEnding.size()));
    if (!program) return tl::make_unexpected(program.error());
    spec.programs.push_back(std::move(*program));
  }
  return {};
}

Status TakeNumbers(const po::variables_map& options, CalibrationSpec& spec) {
  const auto number = [&](const char* name) -> Result<std::uint64_t> {
    auto value = ParseNumber(options[name].as<std::string>());
    if (!value) return Fail(ErrorCode::kInvalid, std::string("--") + name + " takes a number");
    return *value;
  };
  spec.jobs = static_cast<unsigned>(AvailableCores().size()) * kJobsPerCore;
  const std::pair<const char*, std::function<void(std::uint64_t)>> takers[] = {
      {"seed", [&](std::uint64_t value) { spec.seed = value; }},
      {"images", [&](std::uint64_t value) { spec.images = value; }},
      {"images-per-run", [&](std::uint64_t value) { spec.images_per_run = value; }},
      {"jobs", [&](std::uint64_t value) { spec.jobs = static_cast<unsigned>(value); }},
  };
  for (const auto& [name, take] : takers) {
    if (options.count(name) == 0) continue;
    const auto value = number(name);
    if (!value) return tl::make_unexpected(value.error());
    take(*value);
  }
  if (spec.jobs < 1 || spec.jobs > 64) return Fail(ErrorCode::kInvalid, "--jobs is from 1 to 64");
  if (options.count("budget") > 0) {
    auto budget = ParseDuration(options["budget"].as<std::string>());
    if (!budget) return tl::make_unexpected(budget.error());
    spec.budget = *budget;
  }
  return {};
}

Result<CalibrationSpec> Parse(const ParsedCommand& parsed) {
  CalibrationSpec spec;
  const po::variables_map& options = parsed.options;
  Status taken = TakeFilesystems(options, spec);
  if (taken) taken = TakePrograms(options, spec);
  if (taken) taken = TakeNumbers(options, spec);
  if (!taken) return tl::make_unexpected(taken.error());
  spec.schedules.assign(AllSchedules().begin(), AllSchedules().end());
  if (options.count("schedules") > 0) {
    auto schedules = ParseSchedules(options["schedules"].as<std::string>());
    if (!schedules) return tl::make_unexpected(schedules.error());
    spec.schedules = std::move(*schedules);
  }
  spec.out = std::filesystem::absolute(options["out"].as<std::string>()).string();
  spec.progress = !parsed.json;
  return spec;
}

// What the machine must have. Errors: kMissing.
Status CheckMachine(std::span<const Filesystem> filesystems) {
  if (::geteuid() != 0) return Fail(ErrorCode::kMissing, "only root can mount filesystems");
  if (const Status fuse = CheckFuse(); !fuse) return fuse;
  if (const Status loop = CheckLoopDevices(); !loop) return loop;
  for (const Filesystem& filesystem : filesystems) {
    if (const Status there = CheckFilesystem(filesystem); !there) return there;
  }
  return {};
}

// What the model of each filesystem allows of each program. Errors: kInvalid.
Status AskModels(CalibrationSpec& spec) {
  std::map<std::string, std::vector<AllowedSet>> known;
  for (const Filesystem& filesystem : spec.filesystems) {
    auto [at, added] = known.try_emplace(filesystem.model);
    if (added) {
      auto model = FindModel(filesystem.model);
      if (!model) return tl::make_unexpected(model.error());
      for (const CalibrationProgram& program : spec.programs) {
        auto allowed = AllowedBy(**model, program);
        if (!allowed) return tl::make_unexpected(allowed.error());
        at->second.push_back(std::move(*allowed));
      }
    }
    spec.allowed.push_back(at->second);
  }
  return {};
}

// Names the rules of what was allowed and never seen, as far as a short time allows: each takes the
// states of the program under several other models.
void NameUnseen(CalibrationSpec& spec, const CalibrationOutcome& outcome) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  for (std::size_t f = 0; f < spec.filesystems.size(); ++f) {
    const auto model = FindModel(spec.filesystems[f].model);
    for (std::size_t p = 0; model && p < spec.programs.size(); ++p) {
      std::vector<bool> unseen = SeenOf(spec.allowed[f][p], outcome.programs[f][p]);
      unseen.flip();
      const bool any = std::find(unseen.begin(), unseen.end(), true) != unseen.end();
      if (std::chrono::steady_clock::now() > deadline) return;
      if (any && outcome.programs[f][p].runs > 0) {
        NameRules(**model, spec.programs[p], unseen, spec.allowed[f][p]);
      }
    }
  }
}

int Replay(const ParsedCommand& parsed, const std::string& folder) {
  auto stored = ReadEscape(folder);
  if (!stored) return ReportFailure(parsed, stored.error());
  if (const Status ready = CheckMachine({}); !ready) return ReportFailure(parsed, ready.error());
  std::string scratch = std::filesystem::temp_directory_path() / "tornfs-calibrate-XXXXXX";
  if (::mkdtemp(scratch.data()) == nullptr)
    return ReportFailure(parsed, kExitInconclusive, scratch);
  Result<std::string> tree = Fail(ErrorCode::kIo, "no rig");
  Status entered = EnterPrivateNamespaces();
  if (!entered) return ReportFailure(parsed, entered.error());
  {
    auto rig = Rig::Create(scratch, ::getpid());
    if (!rig) return ReportFailure(parsed, rig.error());
    tree = (*rig)->Look(stored->filesystem, std::move(stored->image));
  }
  std::error_code ignored;
  (void)std::filesystem::remove_all(scratch, ignored);
  if (!tree) return ReportFailure(parsed, tree.error());
  std::cout << stored->sentence << "\nnow: " << *tree << "\n";
  std::cout.flush();
  return *tree == stored->tree ? kExitViolation : kExitNotReproduced;
}

int Run(const ParsedCommand& parsed) {
  if (parsed.options.count("replay") > 0) {
    return Replay(parsed, parsed.options["replay"].as<std::string>());
  }
  auto spec = Parse(parsed);
  if (!spec) return UsageError(parsed, spec.error().Message());
  if (const Status ready = CheckMachine(spec->filesystems); !ready) {
    return ReportFailure(parsed, ready.error());
  }
  if (const Status asked = AskModels(*spec); !asked)
    return UsageError(parsed, asked.error().Message());
  std::error_code failed;
  (void)std::filesystem::create_directories(spec->out, failed);
  if (failed) return ReportFailure(parsed, kExitInconclusive, spec->out + ": " + failed.message());
  if (!parsed.json) {
    LogInfo("calibrating " + std::to_string(spec->programs.size()) + " programs on " +
            std::to_string(spec->filesystems.size()) + " filesystems with " +
            std::to_string(spec->jobs) + " workers");
  }
  auto outcome = Calibrate(*spec);
  if (!outcome) return ReportFailure(parsed, outcome.error());
  if (outcome->error) (void)ReportFailure(parsed, *outcome->error);
  if (!outcome->interrupted && !outcome->error) NameUnseen(*spec, *outcome);
  if (parsed.json) {
    std::cout << CalibrationJson(*spec, *outcome)
                     .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
              << "\n";
  } else {
    std::cout << CalibrationText(*spec, *outcome);
  }
  std::cout.flush();
  return CalibrationExit(*outcome);
}

}  // namespace

extern const Command kCalibrateCommand{
    "calibrate",
    "hold the persistence models against real filesystems",
    "[options]",
    "Runs litmus programs on real filesystems of this kernel, on a loop device over an image that\n"
    "tornfs serves and records. From the recorded writes and flushes it makes what the device may\n"
    "hold after a power loss, mounts each image, reads the tree, and asks the model of the\n"
    "filesystem: a tree that the model does not allow is an escape.\n"
    "\n"
    "Needs root, loop devices, and the mkfs of the filesystem.\n"
    "\n"
    "Exit status: 0 no escape, 1 escape, 2 usage, 3 not finished, 77 the machine lacks something.",
    TakesChild::kNone,
    Describe,
    Run};

}  // namespace tornfs::harness
