#include "harness/on/coordinator.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <new>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "common/fd.h"
#include "common/log.h"
#include "harness/cpu.h"
#include "harness/explore/interrupt.h"
#include "harness/on/loss.h"
#include "harness/on/stage.h"
#include "harness/sandbox.h"
#include "harness/worker_pool.h"

namespace tornfs::harness {
namespace {

using Json = nlohmann::json;
using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPlainProgress{10'000};
constexpr std::chrono::milliseconds kLiveProgress{200};
constexpr std::chrono::milliseconds kTick{200};

std::string Line(const Json& message) {
  return message.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

// The number of the next plan, in memory that forked workers share.
class SharedNext {
 public:
  SharedNext()
      : memory_(::mmap(nullptr, sizeof(Counter), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                       -1, 0)) {
    if (memory_ != MAP_FAILED) next_ = new (memory_) Counter(0);
  }
  ~SharedNext() {
    if (next_ != nullptr) (void)::munmap(memory_, sizeof(Counter));
  }
  SharedNext(const SharedNext&) = delete;
  SharedNext& operator=(const SharedNext&) = delete;
  [[nodiscard]] bool valid() const { return next_ != nullptr; }
  [[nodiscard]] std::uint64_t Take() const { return (*next_)++; }

 private:
  using Counter = std::atomic<std::uint64_t>;
  void* memory_;
  Counter* next_ = nullptr;
};

// A worker reports {"plan": N, "mounted": false, "why": ...}, {"plan": N, "judgement": ...,
// "signature": ..., "title": ...} or {"error": {"code": ..., "text": ...}}.
class Worker {
 public:
  Worker(const OnCampaign& campaign, const std::vector<OnPlan>& plans, const SharedNext& next,
         int pipe)
      : campaign_(campaign), plans_(plans), next_(next), pipe_(pipe) {}

  int Run(unsigned number, int core) {
    Status done = EnterPrivateNamespaces();
    if (done) done = PinToCore(core);
    if (done) done = TryAll(number, core);
    if (done || Interrupted()) return 0;
    Report({{"error",
             {{"code", static_cast<int>(done.error().code)}, {"text", done.error().Message()}}}});
    return 1;
  }

 private:
  Status TryAll(unsigned number, int core) {
    auto stage = OnStage::Create(campaign_.spec, number, core);
    if (!stage) return tl::make_unexpected(stage.error());
    while (!Interrupted()) {
      const std::uint64_t at = next_.Take();
      if (at >= plans_.size()) break;
      const OnPlan& plan = plans_[at];
      const auto recording = RecordingOf(campaign_, plan);
      if (!recording) return tl::make_unexpected(recording.error());
      auto judged = (*stage)->Judge(BuildImage((*recording)->device, plan.image),
                                    PromiseText(**recording, plan.promises));
      if (!judged) return tl::make_unexpected(judged.error());
      const Verdict& verdict = judged->verdict;
      Report({{"plan", at},
              {"mounted", judged->mounted},
              {"why", judged->why_not},
              {"judgement", static_cast<int>(verdict.judgement)},
              {"signature", verdict.Signature()},
              {"title", verdict.title}});
    }
    return {};
  }

  void Report(const Json& message) const { (void)WriteAll(pipe_, Line(message)); }

  const OnCampaign& campaign_;
  const std::vector<OnPlan>& plans_;
  const SharedNext& next_;
  int pipe_;
};

class Coordinator {
 public:
  Coordinator(const OnCampaign& campaign, const OnRunOptions& options)
      : campaign_(campaign), options_(options) {
    outcome_.plans = PlanCrashes(campaign);
  }

  Result<OnOutcome> Run() {
    if (!next_.valid()) return IoError(errno, "mmap");
    const std::vector<int> cores = AvailableCores();
    for (unsigned i = 0; i < options_.jobs; ++i) {
      const Status started = workers_.Start([&](int pipe) {
        return Worker(campaign_, outcome_.plans, next_, pipe).Run(i, cores[i % cores.size()]);
      });
      if (!started) return tl::make_unexpected(started.error());
    }
    while (workers_.any()) Turn();
    ShowProgress(true);
    outcome_.elapsed =
        std::chrono::duration_cast<std::chrono::milliseconds>(SteadyClock::now() - start_);
    return std::move(outcome_);
  }

 private:
  void Turn() {
    (void)workers_.Turn(
        kTick, -1, [this](const std::string& line) { Take(Json::parse(line, nullptr, false)); });
    if (Interrupted() && !outcome_.interrupted) {
      outcome_.interrupted = true;
      Stop();
    }
    if (workers_.failed() && !outcome_.error) {
      outcome_.error = Error{ErrorCode::kIo, 0, "a worker ended by itself"};
      Stop();
    }
    if (options_.budget && SteadyClock::now() - start_ > *options_.budget && !stopped_) {
      outcome_.out_of_time = true;
      Stop();
    }
    ShowProgress(false);
  }

  // Workers kill what they run, clean up and end.
  void Stop() {
    stopped_ = true;
    workers_.Signal(SIGTERM);
  }

  void Take(const Json& message) {
    if (message.contains("error")) {
      const Json& error = message["error"];
      if (!outcome_.error) {
        outcome_.error = Error{static_cast<ErrorCode>(error["code"].get<int>()), 0, error["text"]};
      }
      Stop();
      return;
    }
    ++outcome_.tried;
    if (!message["mounted"].get<bool>()) {
      if (outcome_.unmounted++ == 0) outcome_.unmounted_why = message["why"];
      return;
    }
    switch (static_cast<Judgement>(message["judgement"].get<int>())) {
      case Judgement::kGood:
      case Judgement::kNotApplicable: return;
      case Judgement::kCannotJudge:
        if (outcome_.cannot_judge++ == 0) outcome_.cannot_judge_why = message["title"];
        return;
      case Judgement::kViolation: break;
    }
    ++outcome_.violations;
    const std::size_t plan = message["plan"].get<std::size_t>();
    const auto [kind, added] =
        outcome_.kinds.try_emplace(message["signature"], OnKind{plan, message["title"], 0});
    ++kind->second.images;
    if (added || Size(plan) >= Size(kind->second.plan)) return;
    kind->second.plan = plan;
    kind->second.title = message["title"];
  }

  // Of two crashes that fail alike the one with the smaller is easier to understand.
  [[nodiscard]] std::tuple<bool, std::size_t, std::size_t> Size(std::size_t number) const {
    const OnPlan& plan = outcome_.plans[number];
    const auto recording = RecordingOf(campaign_, plan);
    const std::size_t lost = recording ? LossOf(**recording, plan.image).lost : 0;
    return {plan.image.torn, lost, number};
  }

  void ShowProgress(bool last) {
    if (!options_.progress || (last && !live_)) return;
    const auto now = SteadyClock::now();
    if (!last && now - shown_at_ < (live_ ? kLiveProgress : kPlainProgress)) return;
    shown_at_ = now;
    const double seconds = std::chrono::duration<double>(now - start_).count();
    char line[200];
    std::snprintf(line, sizeof line, "%s%llu of %zu images (%.0f/s), %llu violations%s",
                  live_ ? "\r\033[K" : "", static_cast<unsigned long long>(outcome_.tried),
                  outcome_.plans.size(),
                  static_cast<double>(outcome_.tried) / std::max(seconds, 0.001),
                  static_cast<unsigned long long>(outcome_.violations), live_ && last ? "\n" : "");
    if (live_) {
      (void)WriteAll(STDERR_FILENO, std::string_view(line));
    } else {
      LogInfo(line);
    }
  }

  const OnCampaign& campaign_;
  const OnRunOptions& options_;
  SharedNext next_;
  OnOutcome outcome_;
  WorkerPool workers_;
  bool stopped_ = false;
  SteadyClock::time_point start_ = SteadyClock::now();
  SteadyClock::time_point shown_at_ = start_;
  bool live_ = ::isatty(STDERR_FILENO) != 0;
};

}  // namespace

Result<OnOutcome> TryCrashes(const OnCampaign& campaign, const OnRunOptions& options) {
  return Coordinator(campaign, options).Run();
}

}  // namespace tornfs::harness
