#include "harness/live/run_session.h"

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/cli.h"
#include "harness/command_line.h"
#include "harness/cpu.h"
#include "harness/live/crasher.h"
#include "harness/live/program_runner.h"
#include "harness/live/run_place.h"
#include "harness/live/signals.h"
#include "harness/live/stdout_tee.h"
#include "harness/sync_watch.h"

namespace tornfs::harness {
namespace {

using Json = nlohmann::json;

class RunSession {
 public:
  RunSession(const RunOptions& options, EventLoop& loop, const StopSignals& signals,
             const RunPlace& place, LiveMount& mount, ProgramRunner& runner)
      : options_(options),
        loop_(loop),
        signals_(signals),
        mount_(mount),
        runner_(runner),
        crasher_(mount.server(), runner),
        tee_(mount.server(), STDOUT_FILENO),
        context_{std::filesystem::current_path().string(), place.mount_point(),
                 place.mount_point() + "/" + kPromisesName} {
    crasher_.Observe({[this] { Struck(); }, {}});
  }

  // Returns the exit code.
  int Go() {
    const int status = Steps();
    loop_.RunUntil([this] { return tee_.empty() || signals_.received() != 0; });
    if (options_.json) {
      result_["status"] = status;
      result_["sync_seen"] = runner_.supervisor().syscall_listener() >= 0;
      result_["core"] = options_.pin >= 0 ? Json(options_.pin) : Json();
      Say(result_.dump(-1, ' ', false, Json::error_handler_t::replace));
    }
    return status;
  }

 private:
  static void Say(const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); }
  void Tell(const std::string& text) const { Say(options_.name + ": " + text); }

  int Steps();
  // 0, or the exit code that a failure before the workload gives.
  int Setup();
  int Workload();
  int Then(int status);
  // The crash that was asked for, if it came. Returns the status that follows from it.
  int Judge(int workload_status);
  int ReportCrash(const Result<CrashReport>& crash);

  struct Program {
    const char* what;  // "the setup", ...
    std::vector<std::string> words;
    bool is_workload = false;
  };
  // Runs a program. Returns its status; `ran_` says whether it came to an end by itself.
  int Run(const Program& program);
  int RunString(const char* what, const std::string& text);
  [[nodiscard]] SpawnRequest RequestFor(const Program& program) const;
  [[nodiscard]] std::vector<std::string> Environment(bool with_promises) const;
  int Explain(const Program& program, const ProgramRunner::Ended& ended);

  // The program will run no further: what it printed is promised now.
  void Struck() {
    tee_.Pump();
    mount_.server().SetPromises(tee_.Promises());
  }

  const RunOptions& options_;
  EventLoop& loop_;
  const StopSignals& signals_;
  LiveMount& mount_;
  ProgramRunner& runner_;
  Crasher crasher_;
  StdoutTee tee_;
  const CommandContext context_;
  Json result_ = Json::object();
  bool ended_ = false;  // The last program ended by itself, or by a planned crash.
};

int RunSession::Steps() {
  if (const int failed = Setup(); failed != kExitOk) return failed;
  if (options_.trigger) crasher_.Arm(*options_.trigger, options_.crash);
  int status = Run({"the program", options_.workload, true});
  if (!ended_) return status;
  Struck();
  result_["program_status"] = status;
  status = Judge(status);
  return options_.then.empty() || (crasher_.last() && !*crasher_.last()) ? status : Then(status);
}

int RunSession::Setup() {
  if (!options_.setup.empty()) {
    const int status = RunString("the setup", options_.setup);
    if (!ended_) return status;
    if (status != 0) {
      Tell("the setup failed with status " + std::to_string(status));
      return kExitToolFailed;
    }
    if (const Status settled = mount_.SettleAll(); !settled) {
      Tell(settled.error().Message());
      return kExitToolFailed;
    }
  }
  mount_.RestartHistory();
  return kExitOk;
}

int RunSession::Judge(int workload_status) {
  if (crasher_.last()) return ReportCrash(*crasher_.last());
  if (options_.crash_at_end) {
    const int failed = ReportCrash(crasher_.CrashNow(options_.crash));
    return failed != kExitOk ? failed : workload_status;
  }
  if (!options_.trigger) return workload_status;
  const auto matches = crasher_.armed() ? crasher_.armed()->trigger.matches() : 0;
  (void)crasher_.Disarm();
  Tell("'" + FormatTrigger(*options_.trigger) + "' never came: " + std::to_string(matches) +
       " matches in " + std::to_string(mount_.engine().next_op() - 1) +
       " ops; nothing was crashed");
  return kExitToolFailed;
}

int RunSession::ReportCrash(const Result<CrashReport>& crash) {
  if (!crash) {
    Tell(crash.error().Message());
    return kExitToolFailed;
  }
  result_["crash"] = ToJson(*crash);
  if (!options_.json) Say("tornfs: " + Describe(*crash));
  return kExitOk;
}

int RunSession::Then(int status) {
  const int then_status = RunString("--then", options_.then);
  result_["then_status"] = then_status;
  if (!ended_) return signals_.received() != 0 ? then_status : kExitViolation;
  if (then_status == 0) return status;
  Tell("--then ended with status " + std::to_string(then_status));
  return kExitViolation;
}

std::vector<std::string> RunSession::Environment(bool with_promises) const {
  const std::vector<std::pair<std::string, std::string>> ours{
      {"TORNFS_MOUNT", context_.mount},
      {"TORNFS_SEED", std::to_string(options_.seed)},
      {"TORNFS_ORIGIN", context_.origin},
      {"PYTHONUNBUFFERED", "1"},
      {"TORNFS_PROMISES", context_.promises}};
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string name(*entry, std::strcspn(*entry, "="));
    bool replaced = false;
    for (const auto& each : ours) replaced = replaced || each.first == name;
    if (!replaced) environment.emplace_back(*entry);
  }
  for (const auto& [name, value] : ours) {
    if (name != "TORNFS_PROMISES" || with_promises) environment.push_back(name + "=" + value);
  }
  return environment;
}

SpawnRequest RunSession::RequestFor(const Program& program) const {
  SpawnRequest request;
  request.arguments = program.words;
  request.environment = Environment(!program.is_workload);
  request.directory = context_.mount;
  request.output.kind = OutputTarget::Kind::kInherit;
  request.error.kind = OutputTarget::Kind::kInherit;
  if (program.is_workload) {
    request.input.kind = InputSource::Kind::kInherit;
    request.output = {OutputTarget::Kind::kPath, context_.mount + "/" + kStdoutName};
  }
  request.identity = options_.identity;
  return request;
}

int RunSession::RunString(const char* what, const std::string& text) {
  auto words = ParseCommandString(text, context_);
  if (words) return Run({what, std::move(*words)});
  Tell(std::string(what) + ": " + words.error().Message());
  ended_ = false;
  return kExitUsage;
}

int RunSession::Run(const Program& program) {
  ended_ = false;
  Program prepared = program;
  if (program.is_workload) {
    auto words = PrepareArguments(program.words, context_);
    if (!words) {
      Tell(words.error().Message());
      return kExitUsage;
    }
    prepared.words = std::move(*words);
  }
  const auto stop = [this] {
    tee_.Pump();
    return signals_.received() != 0;
  };
  const auto ended = runner_.Run(RequestFor(prepared), {options_.timeout, stop});
  if (ended) return Explain(prepared, *ended);
  Tell(ended.error().Message());
  return kExitToolFailed;
}

int RunSession::Explain(const Program& program, const ProgramRunner::Ended& ended) {
  const ExitReport& report = ended.report;
  if (ended.stopped) return 128 + signals_.received();
  if (ended.timed_out) {
    Tell(std::string(program.what) + " ran out of time and was killed");
    return 128 + SIGKILL;
  }
  if (report.stage != SpawnStage::kStarted && !report.killed) {
    const std::string why = std::strerror(report.stage_errno);
    Tell(report.stage == SpawnStage::kExecute
             ? program.words.front() + ": " + why
             : std::string("cannot ") + SpawnStageName(report.stage) + ": " + why);
    return report.ShellStatus();
  }
  ended_ = true;
  if (report.stragglers > 0) {
    Tell(std::to_string(report.stragglers) + " processes outlived " + program.what +
         " and were killed");
  }
  return report.ShellStatus();
}

int Refuse(const RunOptions& options, const Error& error) {
  std::fprintf(stderr, "%s: %s\n", options.name.c_str(), error.Message().c_str());
  switch (error.code) {
    case ErrorCode::kMissing: return kExitMissing;
    case ErrorCode::kInvalid: return kExitUsage;
    default: return kExitToolFailed;
  }
}

}  // namespace

int RunLive(const RunOptions& options) {
  if (options.pin >= 0) {
    if (const Status pinned = PinToCore(options.pin); !pinned) {
      return Refuse(options, pinned.error());
    }
  }
  auto loop = EventLoop::Create();
  if (!loop) return Refuse(options, loop.error());
  auto signals = StopSignals::Watch(**loop);
  if (!signals) return Refuse(options, signals.error());
  auto place =
      RunPlace::Prepare({options.at, options.pin, /*for_other_user=*/options.identity.has_value()});
  if (!place) return Refuse(options, place.error());
  ProgramRunner runner(**loop, (*place)->TakeSupervisor());
  LiveMountOptions live = options.live;
  live.mount_point = (*place)->mount_point();
  auto mount = LiveMount::Mount(**loop, live);
  if (!mount) return Refuse(options, mount.error());
  int status = kExitToolFailed;
  {
    const SyncWatch syncs((*mount)->server(), runner.supervisor(), SyncWatch::Rest::kMachineToo);
    RunSession session(options, **loop, **signals, **place, **mount, runner);
    status = session.Go();
  }
  (*mount)->server().Unmount();
  return status;
}

}  // namespace tornfs::harness
