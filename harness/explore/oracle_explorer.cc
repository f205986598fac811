#include "harness/explore/oracle_explorer.h"

#include <utility>

#include "harness/cli.h"
#include "harness/explore/choices.h"
#include "harness/explore/crash_base.h"

namespace tornfs::harness {
namespace {

// What one claim may cost at one crash point, for each of --window-states.
constexpr std::uint64_t kLeavesPerState = 64;
// Answers to one question.
constexpr std::size_t kMostAnswers = 4096;

}  // namespace

Verdict VerdictOf(const Oracle& oracle, const Base& base, const CrashPoint& point) {
  Tree tree = base.durable;
  for (const Effect& effect : base.pending) Apply(effect, tree);
  Verdict verdict;
  verdict.phase = "oracle";
  const Claim* broken = oracle.FirstBroken(tree, point.cut, point.promises);
  if (broken == nullptr) return verdict;
  verdict.judgement = Judgement::kViolation;
  verdict.status = kExitViolation;
  verdict.title = PlainLine(Damage(*broken, tree));
  verdict.output = verdict.title + "\n" + broken->because + "\n";
  return verdict;
}

OracleExplorer::OracleExplorer(const Campaign& campaign, SharedState& shared, Strategy strategy,
                               OnViolation on_violation)
    : campaign_(campaign),
      shared_(shared),
      strategy_(strategy),
      on_violation_(std::move(on_violation)) {}

Status OracleExplorer::Explore(const Unit& unit) {
  legal_ = 1;
  if (unit.kind == Step::Kind::kPower) return LosePower(unit.point);
  ++shared_.counters().states;
  const Verdict verdict =
      VerdictOf(*campaign_.oracle, AfterKill(*campaign_.workload, unit.point.cut), unit.point);
  if (verdict.good()) return {};
  return Broken({unit.kind, unit.point, ""}, verdict, 1);
}

Status OracleExplorer::LosePower(const CrashPoint& point) {
  auto window = std::make_shared<Window>(campaign_.workload->BaseAt(point.cut), *campaign_.model,
                                         campaign_.spec.tear, *campaign_.store);
  auto& counters = shared_.counters();
  ++counters.windows;
  if (strategy_ != Strategy::kLazy) return TryFamilies(*window, point, false);
  const UndecidedWorld world(std::make_shared<WindowIndex>(window));
  legal_ = world.States();
  AddSaturated(counters.states, legal_ ? legal_->Saturated() : UINT64_MAX);
  bool whole = true;
  for (const Claim& claim : campaign_.oracle->claims()) {
    if (!claim.MustHold(point.cut, point.promises)) continue;
    std::uint64_t leaves = campaign_.spec.states_per_window * kLeavesPerState;
    if (auto followed = Follow(world, claim, point, leaves); !followed) return followed;
    whole = whole && leaves > 0;
  }
  const bool tears = window->tear() == Tear::kByte && !window->nodes().empty();
  if (whole && !tears) ++counters.whole;
  return whole && !tears ? Status() : TryFamilies(*window, point, whole);
}

Status OracleExplorer::Follow(const UndecidedWorld& world, const Claim& claim,
                              const CrashPoint& point, std::uint64_t& leaves) {
  if (leaves == 0 || shared_.stopped()) return {};
  UndecidedWorld now = world;
  Tree tree = now.Build();
  std::optional<std::vector<UndecidedWorld::Option>> parts;
  const Held held = Judge(claim, tree, *campaign_.store, [&](const Question& question) {
    parts = now.Options(question, {}, tree, *campaign_.store, {}, kMostAnswers);
    if (!parts || parts->size() > 1) return false;
    now = std::move(parts->front().world);
    tree = std::move(parts->front().tree);
    return true;
  });
  if (held == Held::kStopped && !parts) {
    leaves = 0;
    return {};
  }
  if (held == Held::kStopped) {
    for (const UndecidedWorld::Option& part : *parts) {
      if (auto followed = Follow(part.world, claim, point, leaves); !followed) return followed;
    }
    return {};
  }
  --leaves;
  ++shared_.counters().leaves;
  if (held == Held::kYes) return {};
  // The state with the most kept: the least is lost.
  const auto interval = now.Intervals().front();
  const Window& window = interval.window->window();
  Base base;
  base.durable = window.State(interval.highest);
  if (campaign_.oracle->FirstBroken(base.durable, point.cut, point.promises) != &claim) return {};
  const auto count = now.States();
  return Broken({Step::Kind::kPower, point, window.Token(interval.highest)},
                VerdictOf(*campaign_.oracle, base, point), count ? count->Saturated() : UINT64_MAX);
}

Status OracleExplorer::TryFamilies(const Window& window, const CrashPoint& point, bool torn_only) {
  const Strategy strategy = strategy_ == Strategy::kLazy ? Strategy::kSystematic : strategy_;
  const ChoiceSet set =
      Choose(window, strategy, campaign_.spec.states_per_window,
             Mix(Hash128(campaign_.history), campaign_.spec.seed).low ^ point.cut);
  if (strategy_ != Strategy::kLazy && set.complete) ++shared_.counters().whole;
  for (const Choice& choice : set.choices) {
    if (shared_.stopped()) break;
    if (torn_only && choice.torn.empty()) continue;
    ++shared_.counters().states;
    Base base;
    base.durable = window.State(choice);
    const Verdict verdict = VerdictOf(*campaign_.oracle, base, point);
    if (verdict.good()) continue;
    const Step step{Step::Kind::kPower, point, window.Token(choice)};
    if (auto told = Broken(step, verdict, 1); !told) return told;
  }
  return {};
}

Status OracleExplorer::Broken(Step step, const Verdict& verdict, std::uint64_t states) {
  AddSaturated(shared_.counters().violations, states);
  return on_violation_({campaign_.history, {std::move(step)}}, verdict, states);
}

}  // namespace tornfs::harness
