#include "harness/explore/worker.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <map>
#include <nlohmann/json.hpp>

#include "common/fd.h"
#include "harness/cpu.h"
#include "harness/explore/explorer.h"
#include "harness/explore/finding.h"
#include "harness/explore/lazy_explorer.h"
#include "harness/explore/oracle_explorer.h"
#include "harness/sandbox.h"

namespace tornfs::harness {
namespace {

// What one finding may cost; a finding that is not minimal is still a finding.
constexpr unsigned kShrinkRuns = 60;

class Worker {
 public:
  explicit Worker(const WorkerTask& task) : task_(task) {}

  Status Run() {
    if (task_.core >= 0) {
      if (auto pinned = PinToCore(task_.core); !pinned) return pinned;
    }
    if (MayUseNamespaces()) {
      if (auto entered = EnterPrivateNamespaces(); !entered) return entered;
    }
    const Campaign& campaign = task_.campaign;
    StageOptions options = campaign.Options(task_.core);
    options.exact_reads = task_.strategy == Strategy::kLazy;
    auto stage = Stage::Open(*campaign.store, *campaign.model, options);
    if (!stage) return tl::make_unexpected(stage.error());
    if (campaign.uses_mappings) (*stage)->PullMappings();
    Prober prober(**stage, *campaign.store, campaign.recover, campaign.check);
    context_ = std::make_unique<PlanContext>(PlanContext{campaign.workload, *campaign.model,
                                                         campaign.spec.tear, *campaign.store,
                                                         prober, campaign.oracle.get()});
    ExploreSpec spec = campaign.spec;
    spec.strategy = task_.strategy;
    Explorer explorer(spec, *campaign.workload, campaign.history, *campaign.model, *campaign.store,
                      prober, task_.shared, [this](const Plan& plan, const Verdict& verdict) {
                        return Violation(plan, verdict, 1);
                      });
    LazyExplorer lazy(campaign, **stage, task_.shared, task_.board, task_.number,
                      [this](const Plan& plan, const Verdict& verdict, std::uint64_t states) {
                        return Violation(plan, verdict, states);
                      });
    OracleExplorer judging(campaign, task_.shared, task_.strategy,
                           [this](const Plan& plan, const Verdict& verdict, std::uint64_t states) {
                             return Violation(plan, verdict, states);
                           });
    const bool lazily = task_.strategy == Strategy::kLazy;
    const auto units = UnitsOf(*campaign.workload, campaign.spec);
    while (!task_.shared.stopped()) {
      unit_ = task_.shared.TakeUnit();
      if (unit_ >= units.size()) break;
      if (!task_.shard.Has(unit_)) continue;
      failing_.clear();
      plans_.clear();
      auto explored = campaign.oracle ? judging.Explore(units[unit_])
                      : lazily        ? lazy.Explore(units[unit_])
                                      : explorer.Explore(units[unit_]);
      if (!explored) return explored;
      if (!lazy.difference().empty()) {
        Send({{"difference", lazy.difference()}});
        break;
      }
      ++task_.shared.counters().units;
      nlohmann::json done = {{"unit", unit_}, {"failing", failing_}, {"plans", plans_}};
      const auto& legal = campaign.oracle ? judging.legal() : lazy.legal();
      if (lazily && legal) done["legal"] = legal->ToString();
      Send(done);
    }
    task_.shared.counters().stragglers += prober.stragglers();
    task_.shared.counters().left_outside += prober.left_outside();
    return {};
  }

  void Send(const nlohmann::json& message) const {
    // The coordinator reads until we are gone; if it is gone itself, nobody wants to know.
    (void)WriteAll(task_.pipe,
                   message.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  }

 private:
  Status Violation(const Plan& plan, const Verdict& verdict, std::uint64_t states) {
    if (verdict.judgement == Judgement::kCannotJudge) {
      Send({{"unit", unit_}, {"cannot_judge", verdict.title}});
      return {};
    }
    const std::string signature = verdict.Signature();
    std::uint64_t& failing = failing_[signature];
    failing = states > UINT64_MAX - failing ? UINT64_MAX : failing + states;
    auto& plans = plans_[signature];
    if (plans.size() < kMaxFailingPlans) plans.push_back(FormatPlan(plan));
    const std::size_t order = failing_.size();
    if (seen_[signature]++ > 0 || seen_.size() > kMaxKinds) return {};
    auto shrunk = Shrink(*context_, plan, signature, kShrinkRuns);
    if (!shrunk) return tl::make_unexpected(shrunk.error());
    auto run = RunPlan(*context_, *shrunk);
    if (!run) return tl::make_unexpected(run.error());
    const Finding finding = MakeFinding(*context_, *shrunk, *run);
    auto written = WriteFinding(task_.findings_folder + "/" + finding.id, finding,
                                task_.campaign.spec, *shrunk, *run, *task_.campaign.store);
    // Another worker may have come to the same state from another unit.
    if (!written && written.error().sys_errno != EEXIST) return written;
    Send({{"unit", unit_}, {"order", order}, {"finding", FindingToJson(finding)}});
    return {};
  }

  const WorkerTask& task_;
  std::unique_ptr<PlanContext> context_;
  std::uint64_t unit_ = 0;
  std::map<std::string, std::uint64_t> failing_;
  std::map<std::string, std::vector<std::string>> plans_;
  std::map<std::string, std::uint64_t> seen_;
};

}  // namespace

int RunWorker(const WorkerTask& task) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Ctrl-C reaches the whole group; the coordinator decides what it means. In a session of their
  // own the programs under test never see it: one killed by it would look like a violation.
  ::setsid();
  ::signal(SIGINT, SIG_IGN);
  ::signal(SIGTERM, SIG_IGN);
  ::signal(SIGPIPE, SIG_IGN);
  Worker worker(task);
  auto done = worker.Run();
  if (done) return 0;
  worker.Send(
      {{"error",
        {{"code", ErrorCodeName(done.error().code)}, {"message", done.error().Message()}}}});
  return 1;
}

}  // namespace tornfs::harness
