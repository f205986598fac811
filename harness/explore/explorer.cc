#include "harness/explore/explorer.h"

#include "harness/explore/crash_base.h"

namespace tornfs::harness {

std::vector<Unit> UnitsOf(const Recording& workload, const ExploreSpec& spec) {
  std::vector<Unit> units;
  const auto points = spec.every_op ? AllPoints(workload) : PowerPoints(workload);
  for (const CrashPoint& point : points) units.push_back({Step::Kind::kPower, point});
  if (!spec.kill) return units;
  for (const CrashPoint& point : KillPoints(workload)) {
    units.push_back({Step::Kind::kKill, point});
  }
  return units;
}

Explorer::Explorer(const ExploreSpec& spec, const Recording& workload, std::string history,
                   const Model& model, const ContentStore& store, Prober& prober,
                   SharedState& shared, OnViolation on_violation)
    : spec_(spec),
      workload_(workload),
      model_(model),
      store_(store),
      prober_(prober),
      shared_(shared),
      on_violation_(std::move(on_violation)) {
  plan_.history = std::move(history);
}

Status Explorer::Explore(const Unit& unit) {
  plan_.steps.clear();
  Result<bool> good = true;
  Reached reached;
  if (unit.kind == Step::Kind::kKill) {
    plan_.steps.push_back({unit.kind, unit.point, ""});
    const Situation situation{AfterKill(workload_, unit.point.cut),
                              PromiseText(workload_, unit.point.promises)};
    ++reached.states;
    good = AfterCrash(situation, spec_.depth);
  } else {
    good = LosePower(workload_, unit.point, "", spec_.depth, reached);
  }
  Count(reached);
  if (!good) return tl::make_unexpected(good.error());
  return {};
}

void Explorer::Count(const Reached& reached) {
  shared_.counters().states += reached.states;
  shared_.counters().windows += reached.windows;
  shared_.counters().whole += reached.whole;
}

Result<bool> Explorer::LosePower(const Recording& recording, const CrashPoint& point,
                                 const std::string& promised_before, unsigned power_left,
                                 Reached& reached) {
  const Window window(recording.BaseAt(point.cut), model_, spec_.tear, store_);
  const ChoiceSet set = Choose(window, spec_.strategy, spec_.states_per_window,
                               Mix(Hash128(plan_.history), spec_.seed).low ^ point.cut);
  ++reached.windows;
  if (set.complete) ++reached.whole;
  Situation situation;
  situation.promises = promised_before + PromiseText(recording, point.promises);
  bool all_good = true;
  plan_.steps.push_back({Step::Kind::kPower, point, ""});
  for (const Choice& choice : set.choices) {
    if (shared_.stopped()) {
      all_good = false;
      break;
    }
    situation.base = AfterPowerLoss(workload_, recording, point.cut, window.State(choice));
    plan_.steps.back().choice = window.Token(choice);
    ++reached.states;
    auto good = AfterCrash(situation, power_left - 1);
    if (!good) return good;
    all_good = all_good && *good;
  }
  plan_.steps.pop_back();
  return all_good;
}

Result<bool> Explorer::AfterCrash(const Situation& situation, unsigned power_left) {
  auto& counters = shared_.counters();
  ++counters.tried;
  // A base with pending effects is more than its tree; it is not looked up.
  const bool settled = situation.base.pending.empty();
  const Digest world = settled ? WorldName(situation, store_) : Digest();
  const Digest key = Mix(Mix(world, Hash128(situation.promises)), power_left);
  if (settled && shared_.IsGood(key)) {
    ++counters.known;
    return true;
  }
  const std::uint64_t runs = prober_.runs();
  Reached reached;
  auto good = Judge(situation, power_left, reached);
  counters.runs += prober_.runs() - runs;
  if (!good) return good;
  const bool counted_elsewhere = *good && settled && !shared_.MarkGood(key);
  if (!counted_elsewhere) Count(reached);
  return good;
}

Result<bool> Explorer::Judge(const Situation& situation, unsigned power_left, Reached& reached) {
  const bool more = power_left > 0;
  Situation after = situation;
  std::shared_ptr<const Recording> recording;
  if (prober_.has_recovery()) {
    auto recovered = prober_.Recover(situation, more);
    if (!recovered) return tl::make_unexpected(recovered.error());
    if (!(*recovered)->verdict.good()) return Fails((*recovered)->verdict);
    after.base = (*recovered)->end;
    after.promises += (*recovered)->promised;
    recording = (*recovered)->recording;
  }
  auto checked = prober_.Check(after, more && !prober_.has_recovery());
  if (!checked) return tl::make_unexpected(checked.error());
  if (!checked->verdict.good()) return Fails(checked->verdict);
  if (!recording) recording = checked->recording;
  if (!more || !recording) return true;
  bool all_good = true;
  const auto points =
      spec_.every_op ? AllPoints(*recording) : PowerPoints(*recording, PromisesApart::kFirst);
  for (const CrashPoint& point : points) {
    auto good = LosePower(*recording, point, situation.promises, power_left, reached);
    if (!good) return good;
    all_good = all_good && *good;
    if (shared_.stopped()) return false;
  }
  return all_good;
}

Result<bool> Explorer::Fails(const Verdict& verdict) {
  if (verdict.judgement == Judgement::kCannotJudge) {
    ++shared_.counters().cannot_judge;
  } else {
    ++shared_.counters().violations;
  }
  if (auto told = on_violation_(plan_, verdict); !told) return tl::make_unexpected(told.error());
  return false;
}

}  // namespace tornfs::harness
