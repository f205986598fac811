#include "harness/explore/coordinator.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/log.h"
#include "harness/cpu.h"
#include "harness/explore/explorer.h"
#include "harness/explore/worker.h"

namespace tornfs::harness {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPlainProgress{10'000};
constexpr std::chrono::milliseconds kLiveProgress{200};
// How long workers may finish their current run after a stop.
constexpr std::chrono::milliseconds kGrace{5'000};

// What workers can tell each other of their runs.
constexpr std::uint64_t kBoardBytes = 1ULL << 30;

class Coordinator {
 public:
  Coordinator(const Campaign& campaign, const CoordinatorOptions& options, Strategy strategy)
      : campaign_(campaign), options_(options), shared_(SharedState::Create()) {
    outcome_.strategy = strategy;
    outcome_.shard = options.shard;
    const std::uint64_t units = UnitsOf(*campaign.workload, campaign.spec).size();
    for (std::uint64_t unit = 0; unit < units; ++unit)
      outcome_.all_units += options.shard.Has(unit);
  }

  Result<ExploreOutcome> Run() {
    BlockSignals();
    if (auto started = StartWorkers(); !started) {
      KillWorkers();
      return tl::make_unexpected(started.error());
    }
    while (AnyWorker()) Turn();
    ShowProgress(true);
    LimitKinds(outcome_);
    KeepReportedFindings();
    RestoreSignals();
    return Collect();
  }

 private:
  struct WorkerProcess {
    pid_t pid = -1;
    Fd pipe;
    std::string buffered;
  };

  void BlockSignals() {
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGINT);
    sigaddset(&wanted, SIGTERM);
    ::sigprocmask(SIG_BLOCK, &wanted, &old_mask_);
    signals_ = Fd(::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  void RestoreSignals() {
    signals_.Reset();
    ::sigprocmask(SIG_SETMASK, &old_mask_, nullptr);
  }

  Status StartWorkers() {
    const std::vector<int> cores = AvailableCores();
    for (unsigned i = 0; i < options_.jobs; ++i) {
      int ends[2];
      if (::pipe2(ends, O_CLOEXEC) != 0) return IoError(errno, "pipe");
      Fd reading(ends[0]);
      Fd writing(ends[1]);
      const int core = cores.empty() ? -1 : cores[i % cores.size()];
      const pid_t pid = ::fork();
      if (pid < 0) return IoError(errno, "fork");
      if (pid == 0) {
        for (WorkerProcess& other : workers_) other.pipe.Reset();
        reading.Reset();
        RestoreSignals();
        const WorkerTask task{campaign_,
                              *shared_,
                              *board_,
                              i,
                              outcome_.strategy,
                              core,
                              writing.get(),
                              options_.shard,
                              options_.findings_folder};
        ::_exit(RunWorker(task));
      }
      workers_.push_back({pid, std::move(reading), ""});
    }
    return {};
  }

  [[nodiscard]] bool AnyWorker() const {
    for (const WorkerProcess& worker : workers_) {
      if (worker.pid > 0) return true;
    }
    return false;
  }

  void Turn() {
    std::vector<pollfd> waiting{{signals_.get(), POLLIN, 0}};
    std::vector<WorkerProcess*> readable;
    for (WorkerProcess& worker : workers_) {
      if (worker.pid <= 0) continue;
      waiting.push_back({worker.pipe.get(), POLLIN, 0});
      readable.push_back(&worker);
    }
    const auto tick = live_ ? kLiveProgress : std::chrono::milliseconds(500);
    if (::poll(waiting.data(), waiting.size(), static_cast<int>(tick.count())) > 0) {
      if (waiting[0].revents != 0) Interrupt();
      for (std::size_t i = 0; i < readable.size(); ++i) {
        if (waiting[i + 1].revents != 0) Receive(*readable[i]);
      }
    }
    if (options_.budget && SteadyClock::now() - start_ > *options_.budget && !shared_->stopped()) {
      outcome_.out_of_time = true;
      Stop();
    }
    if (stopped_at_ && SteadyClock::now() - *stopped_at_ > kGrace) KillWorkers();
    ShowProgress(false);
  }

  void Interrupt() {
    signalfd_siginfo info{};
    (void)!::read(signals_.get(), &info, sizeof info);
    outcome_.interrupted = true;
    Stop();
  }

  void Stop() {
    shared_->Stop();
    if (!stopped_at_) stopped_at_ = SteadyClock::now();
  }

  void KillWorkers() {
    for (WorkerProcess& worker : workers_) {
      if (worker.pid > 0) ::kill(worker.pid, SIGKILL);
    }
  }

  void Receive(WorkerProcess& worker) {
    char buffer[65536];
    const ssize_t n = ::read(worker.pipe.get(), buffer, sizeof buffer);
    if (n > 0) {
      worker.buffered.append(buffer, static_cast<std::size_t>(n));
      for (std::size_t end; (end = worker.buffered.find('\n')) != std::string::npos;) {
        Take(nlohmann::json::parse(worker.buffered.substr(0, end), nullptr, false));
        worker.buffered.erase(0, end + 1);
      }
      return;
    }
    if (n < 0 && errno == EINTR) return;
    int status = 0;
    ::waitpid(worker.pid, &status, 0);
    worker.pid = -1;
    worker.pipe.Reset();
    if (status != 0 && !outcome_.error && !stopped_at_) {
      outcome_.error = Error{ErrorCode::kIo, 0, "a worker ended by itself"};
      Stop();
    }
  }

  void Take(const nlohmann::json& message) {
    if (!message.is_object()) return;
    if (message.contains("error")) {
      const auto& error = message["error"];
      const bool missing = error["code"] == ErrorCodeName(ErrorCode::kMissing);
      outcome_.error = Error{missing ? ErrorCode::kMissing : ErrorCode::kIo, 0,
                             error["message"].get<std::string>()};
      Stop();
      return;
    }
    if (message.contains("difference")) {
      outcome_.difference = message["difference"].get<std::string>();
      Stop();
      return;
    }
    const auto unit = message["unit"].get<std::uint64_t>();
    if (message.contains("legal")) {
      outcome_.legal += BigCount::Parse(message["legal"].get<std::string>());
    } else if (message.contains("failing") && outcome_.strategy == Strategy::kLazy) {
      ++outcome_.uncounted;
    }
    if (message.contains("cannot_judge") && unit < outcome_.cannot_judge_unit) {
      outcome_.cannot_judge_unit = unit;
      outcome_.cannot_judge_why = message["cannot_judge"].get<std::string>();
    }
    if (message.contains("failing")) {
      for (const auto& [signature, count] : message["failing"].items()) {
        outcome_.findings[signature].states += count.get<std::uint64_t>();
      }
      for (const auto& [signature, plans] : message["plans"].items()) {
        outcome_.findings[signature].failing[unit] = plans.get<std::vector<std::string>>();
      }
    }
    if (!message.contains("finding")) return;
    auto finding = FindingFromJson(message["finding"]);
    if (!finding) return;
    written_.push_back(finding->id);
    auto& kind = outcome_.findings[finding->signature];
    if (!kind.finding.id.empty() && kind.unit <= unit) return;
    kind.finding = std::move(*finding);
    kind.unit = unit;
    kind.order = message["order"].get<std::uint64_t>();
    if (live_ || !options_.progress) return;
    LogInfo("violation: " + kind.finding.title);
  }

  // Removes the folders of findings that another worker found in an earlier unit.
  void KeepReportedFindings() {
    for (const std::string& id : written_) {
      bool reported = false;
      for (const auto& [signature, kind] : outcome_.findings) {
        reported = reported || kind.finding.id == id;
      }
      std::error_code ignored;
      if (!reported) std::filesystem::remove_all(options_.findings_folder + "/" + id, ignored);
    }
  }

  void ShowProgress(bool last) {
    if (!options_.progress) return;
    const auto now = SteadyClock::now();
    if (!last && now - shown_at_ < (live_ ? kLiveProgress : kPlainProgress)) return;
    if (last && !live_) return;
    shown_at_ = now;
    const auto& counters = shared_->counters();
    const double seconds = std::chrono::duration<double>(now - start_).count();
    char line[256];
    std::snprintf(
        line, sizeof line,
        "%s%llu of %llu crash points, %llu runs (%.0f/s), %llu states judged without one, "
        "%llu of all violate%s",
        live_ ? "\r\033[K" : "", static_cast<unsigned long long>(counters.units.load()),
        static_cast<unsigned long long>(outcome_.all_units),
        static_cast<unsigned long long>(counters.runs.load()),
        static_cast<double>(counters.runs.load()) / std::max(seconds, 0.001),
        static_cast<unsigned long long>(counters.known.load()),
        static_cast<unsigned long long>(counters.violations.load()), live_ && last ? "\n" : "");
    if (live_) {
      (void)WriteAll(STDERR_FILENO, std::string_view(line));
    } else {
      LogInfo(line);
    }
  }

  ExploreOutcome Collect() {
    const auto& counters = shared_->counters();
    outcome_.units = counters.units;
    outcome_.states = counters.states;
    outcome_.tried = counters.tried;
    outcome_.known = counters.known;
    outcome_.distinct_good = shared_->good();
    outcome_.runs = counters.runs;
    outcome_.violations = counters.violations;
    outcome_.windows = counters.windows;
    outcome_.whole = counters.whole;
    outcome_.cannot_judge = counters.cannot_judge;
    outcome_.stragglers = counters.stragglers;
    outcome_.leaves = counters.leaves;
    outcome_.shared = counters.shared;
    outcome_.audited = counters.audited;
    outcome_.overdecided = counters.overdecided;
    outcome_.concurrent = counters.concurrent != 0;
    outcome_.left_outside = counters.left_outside;
    outcome_.nothing_to_judge =
        campaign_.oracle && campaign_.oracle->claims().empty() && campaign_.oracle->settled() == 0;
    outcome_.elapsed =
        std::chrono::duration_cast<std::chrono::milliseconds>(SteadyClock::now() - start_);
    return std::move(outcome_);
  }

  const Campaign& campaign_;
  const CoordinatorOptions& options_;
  std::unique_ptr<SharedState> shared_;
  std::unique_ptr<RunBoard> board_ = RunBoard::Create(kBoardBytes);
  std::vector<WorkerProcess> workers_;
  std::vector<std::string> written_;
  ExploreOutcome outcome_;
  sigset_t old_mask_{};
  Fd signals_;
  SteadyClock::time_point start_ = SteadyClock::now();
  SteadyClock::time_point shown_at_ = start_;
  std::optional<SteadyClock::time_point> stopped_at_;
  bool live_ = ::isatty(STDERR_FILENO) != 0;
};

}  // namespace

Result<ExploreOutcome> Coordinate(const Campaign& campaign, const CoordinatorOptions& options) {
  auto outcome = Coordinator(campaign, options, campaign.spec.strategy).Run();
  if (!outcome || outcome->difference.empty() || outcome->interrupted || outcome->out_of_time) {
    return outcome;
  }
  LogWarning(
      "the programs do not do the same when they find the same, so no result can stand for "
      "another: " +
      outcome->difference + "; going on with --strategy systematic");
  auto again = Coordinator(campaign, options, Strategy::kSystematic).Run();
  if (again) again->difference = outcome->difference;
  return again;
}

}  // namespace tornfs::harness
