#include "harness/explore/plan_run.h"

#include <algorithm>

#include "harness/explore/crash_base.h"
#include "harness/explore/oracle_explorer.h"

namespace tornfs::harness {
namespace {

Result<Situation> Crash(const PlanContext& context, const Step& step, std::size_t index,
                        const std::string& promised_before, PlanRun& run) {
  const Recording& history = *run.histories.back();
  if (step.point.cut < history.start.next_op || step.point.cut > history.end() ||
      step.point.promises > history.promises.size()) {
    return Fail(ErrorCode::kInvalid, "the plan names a place that this history does not have");
  }
  Situation situation;
  situation.base = history.BaseAt(step.point.cut);
  if (step.kind == Step::Kind::kKill && &history == context.workload.get()) {
    situation.base = AfterKill(history, step.point.cut);
  }
  situation.promises = promised_before + PromiseText(history, step.point.promises);
  if (step.kind == Step::Kind::kKill) return situation;
  Window window(situation.base, context.model, context.tear, context.store);
  auto choice = window.ChoiceOf(step.choice);
  if (!choice) return tl::make_unexpected(choice.error());
  situation.base =
      AfterPowerLoss(*context.workload, history, step.point.cut, window.State(*choice));
  run.power_losses.push_back({index, std::move(window), std::move(*choice)});
  return situation;
}

}  // namespace

const Op* PlanRun::FindOp(OpNumber number) const {
  for (auto history = histories.rbegin(); history != histories.rend(); ++history) {
    const Recording& recording = **history;
    if (number >= recording.start.next_op && number < recording.end()) return &recording.At(number);
  }
  return nullptr;
}

Result<PlanRun> RunPlan(const PlanContext& context, const Plan& plan) {
  PlanRun run;
  run.histories.push_back(context.workload);
  std::string promised;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    auto situation = Crash(context, plan.steps[i], i, promised, run);
    if (!situation) return tl::make_unexpected(situation.error());
    run.crashed = *situation;
    const bool last = i + 1 == plan.steps.size();
    if (last && context.oracle != nullptr) {
      run.verdict = VerdictOf(*context.oracle, situation->base, plan.steps[i].point);
      return run;
    }
    Situation after = *situation;
    std::shared_ptr<const Recording> recording;
    if (context.prober.has_recovery()) {
      auto recovered = context.prober.Recover(*situation, !last);
      if (!recovered) return tl::make_unexpected(recovered.error());
      recording = (*recovered)->recording;
      run.verdict = (*recovered)->verdict;
      if (last && !run.verdict.good()) return run;
      after.base = (*recovered)->end;
      after.promises += (*recovered)->promised;
    }
    if (last || !recording) {
      auto checked = context.prober.Check(after, !last);
      if (!checked) return tl::make_unexpected(checked.error());
      run.verdict = checked->verdict;
      if (last) return run;
      recording = checked->recording;
    }
    run.histories.push_back(recording);
    promised = situation->promises;
  }
  return run;
}

namespace {

class Shrinker {
 public:
  Shrinker(const PlanContext& context, Plan plan, const std::string& signature, unsigned runs)
      : context_(context), plan_(std::move(plan)), signature_(signature), runs_left_(runs) {}

  Result<Plan> Run() {
    for (std::size_t step = plan_.steps.size(); step-- > 0;) {
      if (plan_.steps[step].kind != Step::Kind::kPower) continue;
      if (auto shrunk = ShrinkStep(step); !shrunk) return tl::make_unexpected(shrunk.error());
    }
    return plan_;
  }

 private:
  // Whether the plan with another choice at `step` fails in the same way.
  Result<bool> StillFails(std::size_t step, const std::string& choice) {
    if (runs_left_ == 0) return false;
    --runs_left_;
    Plan tried = plan_;
    tried.steps[step].choice = choice;
    auto run = RunPlan(context_, tried);
    if (!run && run.error().code == ErrorCode::kInvalid) return false;  // A later step is gone.
    if (!run) return tl::make_unexpected(run.error());
    return !run->verdict.good() && run->verdict.Signature() == signature_;
  }

  Status ShrinkStep(std::size_t step) {
    auto run = RunPlan(context_, plan_);
    if (!run) return tl::make_unexpected(run.error());
    const auto seen = std::ranges::find(run->power_losses, step, &PowerLossSeen::step);
    if (seen == run->power_losses.end()) return {};
    const Window& window = seen->window;
    Choice choice = seen->choice;
    // Halves first, then one by one: most of what was lost is usually beside the point.
    for (std::size_t chunk = window.nodes().size(); chunk > 0; chunk /= 2) {
      for (std::size_t begin = 0; begin < window.nodes().size(); begin += chunk) {
        Choice more = choice;
        const std::size_t end = std::min(begin + chunk, window.nodes().size());
        for (std::size_t node = begin; node < end; ++node) more.kept[node] = true;
        window.CloseDown(more);
        std::erase_if(more.torn, [&](const Choice::Torn& torn) { return more.kept[torn.node]; });
        if (more == choice || !window.Legal(more)) continue;
        auto fails = StillFails(step, window.Token(more));
        if (!fails) return tl::make_unexpected(fails.error());
        if (!*fails) continue;
        choice = more;
        plan_.steps[step].choice = window.Token(choice);
      }
    }
    return {};
  }

  const PlanContext& context_;
  Plan plan_;
  const std::string& signature_;
  unsigned runs_left_;
};

}  // namespace

Result<Plan> Shrink(const PlanContext& context, const Plan& plan, const std::string& signature,
                    unsigned runs) {
  return Shrinker(context, plan, signature, runs).Run();
}

}  // namespace tornfs::harness
