#include "harness/calibrate/calibration.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/fd.h"
#include "common/log.h"
#include "common/rng.h"
#include "harness/calibrate/worker.h"
#include "harness/cpu.h"
#include "harness/worker_pool.h"

namespace tornfs::harness {
namespace {

using Json = nlohmann::json;
using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPlainProgress{10'000};
constexpr std::chrono::milliseconds kLiveProgress{200};
constexpr std::chrono::milliseconds kTick{200};

// Counters in memory that forked workers share.
class SharedCounters {
 public:
  SharedCounters()
      : memory_(::mmap(nullptr, sizeof(CalibrationCounters), PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (memory_ != MAP_FAILED) counters_ = new (memory_) CalibrationCounters;
  }
  ~SharedCounters() {
    if (counters_ != nullptr) (void)::munmap(memory_, sizeof(CalibrationCounters));
  }
  SharedCounters(const SharedCounters&) = delete;
  SharedCounters& operator=(const SharedCounters&) = delete;
  [[nodiscard]] CalibrationCounters* get() const { return counters_; }

 private:
  void* memory_;
  CalibrationCounters* counters_ = nullptr;
};

class Coordinator {
 public:
  explicit Coordinator(const CalibrationSpec& spec) : spec_(spec), round_(JobsOfOneRound(spec)) {
    for (const Filesystem& filesystem : spec.filesystems) {
      (void)filesystem;
      outcome_.programs.emplace_back(spec.programs.size());
      outcome_.seconds.push_back(0);
    }
  }

  Result<CalibrationOutcome> Run() {
    if (shared_.get() == nullptr) return IoError(errno, "mmap");
    std::string folder = std::filesystem::temp_directory_path() / "tornfs-calibrate-XXXXXX";
    if (::mkdtemp(folder.data()) == nullptr) return IoError(errno, "mkdtemp " + folder);
    BlockSignals();
    const Status started = StartWorkers(folder);
    if (!started) Stop();
    while (workers_.any()) Turn();
    ShowProgress(true);
    ::sigprocmask(SIG_SETMASK, &old_mask_, nullptr);
    // Empty folders: what was mounted on them was mounted in the workers' namespaces alone.
    std::error_code ignored;
    (void)std::filesystem::remove_all(folder, ignored);
    if (!started) return tl::make_unexpected(started.error());
    outcome_.rounds = shared_.get()->jobs_done.load() / round_.size();
    outcome_.elapsed =
        std::chrono::duration_cast<std::chrono::milliseconds>(SteadyClock::now() - start_);
    return std::move(outcome_);
  }

 private:
  void BlockSignals() {
    sigset_t wanted;
    ::sigemptyset(&wanted);
    ::sigaddset(&wanted, SIGINT);
    ::sigaddset(&wanted, SIGTERM);
    ::sigprocmask(SIG_BLOCK, &wanted, &old_mask_);
    signals_ = Fd(::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
  }

  Status StartWorkers(const std::string& folder) {
    const std::vector<int> cores = AvailableCores();
    for (unsigned i = 0; i < spec_.jobs; ++i) {
      const std::string own = folder + "/" + std::to_string(i);
      std::error_code failed;
      if (!std::filesystem::create_directory(own, failed)) {
        return IoError(failed.value(), "mkdir " + own);
      }
      const Status started = workers_.Start([&](int pipe) {
        signals_.Reset();
        ::sigprocmask(SIG_SETMASK, &old_mask_, nullptr);
        const CalibrationWorker worker{spec_, *shared_.get(),          own,
                                       i,     cores[i % cores.size()], pipe};
        return RunCalibrationWorker(worker);
      });
      if (!started) return started;
    }
    return {};
  }

  void Turn() {
    const bool signalled = workers_.Turn(kTick, signals_.get(), [this](const std::string& line) {
      Take(Json::parse(line, nullptr, false));
    });
    if (signalled) {
      signalfd_siginfo info{};
      (void)!::read(signals_.get(), &info, sizeof info);
      outcome_.interrupted = true;
      Stop();
    }
    if (workers_.failed() && !outcome_.error) {
      outcome_.error = Error{ErrorCode::kIo, 0, "a worker ended by itself"};
      Stop();
    }
    if (spec_.budget && SteadyClock::now() - start_ > *spec_.budget && !shared_.get()->stop) {
      outcome_.out_of_time = true;
      Stop();
    }
    ShowProgress(false);
  }

  // Workers finish the image that they look at, then clean up and end.
  void Stop() { shared_.get()->stop = true; }

  void Take(const Json& message) {
    if (!message.is_object()) return;
    if (message.contains("error")) {
      const Json& error = message["error"];
      outcome_.error = Error{static_cast<ErrorCode>(error["code"].get<int>()), 0, error["text"]};
      Stop();
      return;
    }
    if (message.contains("escape")) {
      TakeEscape(message["escape"]);
      return;
    }
    const CalibrationJob& job = round_[message["job"].get<std::uint64_t>() % round_.size()];
    ProgramOutcome& program = outcome_.programs[job.filesystem][job.program];
    ++program.runs;
    const auto images = message["images"].get<std::uint64_t>();
    program.images += images;
    outcome_.images += images;
    program.equal += message["equal"].get<std::uint64_t>();
    program.unreadable += message["unreadable"].get<std::uint64_t>();
    if (program.unreadable_why.empty()) program.unreadable_why = message["why"];
    outcome_.seconds[job.filesystem] += message["seconds"].get<double>();
    for (const Json& tree : message["trees"]) {
      SeenTree& seen = program.seen[tree[0].get<std::string>()];
      seen.images += tree[1].get<std::uint64_t>();
      seen.at_end = seen.at_end || tree[2].get<bool>();
    }
  }

  void TakeEscape(const Json& message) {
    Escape escape{message["id"], message["filesystem"], message["program"], message["sentence"],
                  message["reproduced"]};
    for (const Escape& known : outcome_.escapes) {
      if (known.id == escape.id) return;
    }
    if (spec_.progress && !live_) LogInfo("escape: " + escape.sentence);
    outcome_.escapes.push_back(std::move(escape));
  }

  void ShowProgress(bool last) {
    if (!spec_.progress || (last && !live_)) return;
    const auto now = SteadyClock::now();
    if (!last && now - shown_at_ < (live_ ? kLiveProgress : kPlainProgress)) return;
    shown_at_ = now;
    const CalibrationCounters& counters = *shared_.get();
    const double seconds = std::chrono::duration<double>(now - start_).count();
    char line[256];
    std::snprintf(
        line, sizeof line, "%s%llu of %zu runs%s, %llu images (%.0f/s), %llu escapes%s",
        live_ ? "\r\033[K" : "", static_cast<unsigned long long>(counters.jobs_done.load()),
        round_.size(), spec_.images || spec_.budget ? " a round" : "",
        static_cast<unsigned long long>(counters.images.load()),
        static_cast<double>(counters.images.load()) / std::max(seconds, 0.001),
        static_cast<unsigned long long>(counters.escapes.load()), live_ && last ? "\n" : "");
    if (live_) {
      (void)WriteAll(STDERR_FILENO, std::string_view(line));
    } else {
      LogInfo(line);
    }
  }

  const CalibrationSpec& spec_;
  std::vector<CalibrationJob> round_;
  SharedCounters shared_;
  WorkerPool workers_;
  CalibrationOutcome outcome_;
  sigset_t old_mask_{};
  Fd signals_;
  SteadyClock::time_point start_ = SteadyClock::now();
  SteadyClock::time_point shown_at_ = start_;
  bool live_ = ::isatty(STDERR_FILENO) != 0;
};

}  // namespace

std::vector<CalibrationJob> JobsOfOneRound(const CalibrationSpec& spec) {
  std::vector<CalibrationJob> jobs;
  for (std::size_t program = 0; program < spec.programs.size(); ++program) {
    for (const Schedule schedule : spec.schedules) {
      for (std::size_t filesystem = 0; filesystem < spec.filesystems.size(); ++filesystem) {
        if (Applies(schedule, spec.filesystems[filesystem])) {
          jobs.push_back({filesystem, program, schedule, 0});
        }
      }
    }
  }
  Rng rng(spec.seed);
  for (std::size_t i = jobs.size(); i > 1; --i) std::swap(jobs[i - 1], jobs[rng.Below(i)]);
  return jobs;
}

Result<CalibrationOutcome> Calibrate(const CalibrationSpec& spec) {
  if (JobsOfOneRound(spec).empty()) return Fail(ErrorCode::kInvalid, "nothing to run");
  return Coordinator(spec).Run();
}

}  // namespace tornfs::harness
