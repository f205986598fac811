#include "harness/explore/lazy_explorer.h"

#include <algorithm>
#include <set>
#include <utility>

#include "common/check.h"
#include "common/rng.h"
#include "harness/explore/choices.h"
#include "harness/explore/crash_base.h"
#include "harness/explore/run_codec.h"

namespace tornfs::harness {
namespace {

// What one window may cost: beyond that it is tried by families. The first is for crash points of
// the workload, the second for those of a recovery, of which there are many more; the third for one
// state of a family, in which earlier crashes may still be open.
constexpr std::uint64_t kLeavesPerState = 16;
constexpr std::uint64_t kLeavesPerInnerState = 1;
constexpr std::uint64_t kLeavesOfOneState = 64;
// Violations after which a window is left, and those of its families: the next thousand would show
// the same mistake.
constexpr std::uint64_t kMostViolations = 256;
constexpr std::uint64_t kMostViolationsOfFamilies = 64;
// Answers to one question; a directory with more undecided names than that gives is not listed
// exhaustively.
constexpr std::size_t kMostAnswers = 4096;

Question OfCell(const Effect& effect) {
  switch (effect.kind) {
    case CellKind::kData:
      return {Question::Kind::kPage, effect.ino, effect.offset / kPageBytes, {}};
    case CellKind::kSize: return {Question::Kind::kSize, effect.ino, 0, {}};
    case CellKind::kXattr: return {Question::Kind::kXattrs, effect.ino, 0, {}};
    case CellKind::kEntry: return {Question::Kind::kName, effect.ino, 0, *effect.name};
    default: return {Question::Kind::kOwner, effect.ino, 0, {}};
  }
}

// What a program wrote to, each once: questions whose answers it may not know.
std::vector<Question> CellsWritten(const Recording& recording, Ino first_own) {
  std::vector<Question> cells;
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
  for (std::size_t i = recording.start.pending.size(); i < recording.effects.size(); ++i) {
    const Effect& effect = recording.effects[i];
    if (effect.ino >= first_own) continue;
    Question cell = OfCell(effect);
    // What is dropped by a truncation lies behind a size that was known.
    const bool drop = effect.content == kZeros && effect.length > kPageBytes;
    const std::uint64_t pages = effect.kind == CellKind::kData && !drop
                                    ? (effect.offset + effect.length - 1) / kPageBytes - cell.at + 1
                                    : 1;
    for (std::uint64_t page = 0; page < pages; ++page, ++cell.at) {
      const Digest key = cell.Key();
      if (seen.emplace(key.low, key.high).second) cells.push_back(cell);
    }
  }
  return cells;
}

}  // namespace

LazyExplorer::LazyExplorer(const Campaign& campaign, Stage& stage, SharedState& shared,
                           RunBoard& board, std::uint32_t worker, OnViolation on_violation)
    : campaign_(campaign),
      stage_(stage),
      shared_(shared),
      board_(board),
      worker_(worker),
      on_violation_(std::move(on_violation)) {}

Status LazyExplorer::Explore(const Unit& unit) {
  if (stopped()) return {};
  const Recording& workload = *campaign_.workload;
  const std::string promises = PromiseText(workload, unit.point.promises);
  legal_ = 1;
  if (unit.kind == Step::Kind::kKill) {
    Base base = AfterKill(workload, unit.point.cut);
    Tree tree = base.durable;
    for (const Effect& effect : base.pending) Apply(effect, tree);
    Place place{
        UndecidedWorld(std::move(tree)), std::nullopt, promises, base.next_op, base.next_ino,
        {{unit.kind, unit.point, ""}}};
    place.exact = std::move(base);
    Allowance allowance{UINT64_MAX, UINT64_MAX};
    return AfterCrash(place, campaign_.spec.depth, allowance);
  }
  auto window = std::make_shared<Window>(workload.BaseAt(unit.point.cut), *campaign_.model,
                                         campaign_.spec.tear, *campaign_.store);
  const Base base = AfterPowerLoss(workload, workload, unit.point.cut, Tree());
  const Place place{UndecidedWorld(std::make_shared<WindowIndex>(std::move(window))),
                    std::nullopt,
                    promises,
                    base.next_op,
                    base.next_ino,
                    {{unit.kind, unit.point, ""}}};
  legal_ = place.world.States();
  return TryWindow(place, campaign_.spec.states_per_window * kLeavesPerState,
                   campaign_.spec.depth - 1);
}

Status LazyExplorer::TryWindow(const Place& place, std::uint64_t leaves, unsigned power_left) {
  ++shared_.counters().windows;
  Allowance allowance{leaves, kMostViolations};
  if (auto tried = AfterCrash(place, power_left, allowance); !tried) return tried;
  if (stopped()) return {};
  const auto intervals = place.world.Intervals();
  const Window& window = intervals.back().window->window();
  const bool tears = window.tear() == Tear::kByte && !window.nodes().empty();
  if (!allowance.used_up && !tears) {
    ++shared_.counters().whole;
    return {};
  }
  const ChoiceSet set = Choose(
      window, Strategy::kSystematic, campaign_.spec.states_per_window,
      Mix(Hash128(campaign_.history), campaign_.spec.seed).low ^ place.steps.back().point.cut);
  std::uint64_t violations = kMostViolationsOfFamilies;
  for (const Choice& choice : set.choices) {
    if (!allowance.used_up && choice.torn.empty()) continue;
    if (violations == 0) return {};
    Place one = place;
    one.world.Decide(intervals.size() - 1, choice);
    Allowance of_one{kLeavesOfOneState, violations};
    if (auto tried = AfterCrash(one, power_left, of_one); !tried || stopped()) return tried;
    violations = of_one.violations;
  }
  return {};
}

Status LazyExplorer::AfterCrash(const Place& place, unsigned power_left, Allowance& allowance) {
  const bool recovers = !campaign_.recover.empty();
  const auto checked = [&](const Place& at, const ProgramRun& run) -> Status {
    if (auto judged = Judged(at, run.verdict, allowance); !judged) return judged;
    if (recovers || power_left == 0 || !run.verdict.good()) return {};
    return CrashAgain(at, run, at.promises, power_left, allowance);
  };
  const auto check = [&](const Place& at) -> Status {
    if (campaign_.check.empty()) return Judged(at, Verdict(), allowance);
    return Follow(at, kCheck, allowance, checked);
  };
  if (!recovers) return check(place);
  return Follow(place, kRecovery, allowance, [&](const Place& at, const ProgramRun& run) -> Status {
    if (!run.verdict.good()) return Judged(at, run.verdict, allowance);
    Place after = at;
    after.exact.reset();
    after.world.GoOn(run.recording);
    after.promises += run.promised;
    after.next_op = at.next_op + static_cast<OpNumber>(run.recording->ops.size());
    if (!run.recording->births.empty()) after.next_ino = run.recording->births.back().ino + 1;
    if (auto judged = check(after); !judged || power_left == 0 || stopped()) return judged;
    return CrashAgain(at, run, at.promises, power_left, allowance);
  });
}

Status LazyExplorer::CrashAgain(const Place& place, const ProgramRun& run,
                                const std::string& promised_before, unsigned power_left,
                                Allowance& allowance) {
  std::vector<std::pair<Place, Tree>> open;
  open.emplace_back(place, place.world.Build());
  for (const Question& cell : CellsWritten(*run.recording, place.next_ino)) {
    std::vector<std::pair<Place, Tree>> next;
    for (auto& [at, tree] : open) {
      if (tree.Find(cell.ino) == nullptr) {
        next.emplace_back(std::move(at), std::move(tree));
        continue;
      }
      auto options = at.world.Options(cell, {}, tree, *campaign_.store, at.Facts(), kMostAnswers);
      if (!options || next.size() + options->size() > kMostAnswers) {
        allowance.used_up = true;
        return {};
      }
      shared_.counters().overdecided += options->size() - 1;
      for (auto& option : *options) {
        Place part = at;
        part.world = std::move(option.world);
        next.emplace_back(std::move(part), std::move(option.tree));
      }
    }
    open = std::move(next);
  }
  for (const auto& [at, tree] : open) {
    if (auto tried = CrashDecided(at, run, promised_before, power_left); !tried || stopped()) {
      return tried;
    }
  }
  return {};
}

Status LazyExplorer::CrashDecided(const Place& place, const ProgramRun& run,
                                  const std::string& promised_before, unsigned power_left) {
  const auto recording = Rebase(place, run);
  const auto points = campaign_.spec.every_op ? AllPoints(*recording)
                                              : PowerPoints(*recording, PromisesApart::kFirst);
  for (const CrashPoint& point : points) {
    auto window = std::make_shared<WindowIndex>(std::make_shared<Window>(
        recording->BaseAt(point.cut), *campaign_.model, campaign_.spec.tear, *campaign_.store));
    Place next = place;
    next.exact.reset();
    if (place.exact) {
      next.world = UndecidedWorld(std::move(window));
    } else {
      next.world.LosePower(recording, point.cut, std::move(window));
    }
    const Base base = AfterPowerLoss(*campaign_.workload, *recording, point.cut, Tree());
    next.next_op = base.next_op;
    next.next_ino = base.next_ino;
    next.promises = promised_before + PromiseText(*recording, point.promises);
    next.steps.push_back({Step::Kind::kPower, point, ""});
    const std::uint64_t leaves = campaign_.spec.states_per_window * kLeavesPerInnerState;
    if (auto tried = TryWindow(next, leaves, power_left - 1); !tried || stopped()) return tried;
  }
  return {};
}

Status LazyExplorer::Follow(const Place& place, Program program, Allowance& allowance,
                            const OnLeaf& on_leaf) {
  return Descend(place, program, {nullptr, {}, place.world.Build(), {}, false}, allowance, on_leaf);
}

Status LazyExplorer::Descend(Place place, Program program, Progress at, Allowance& allowance,
                             const OnLeaf& on_leaf) {
  for (;;) {
    if (stopped() || allowance.used_up) return {};
    const auto find = [&] {
      return at.parent == nullptr ? trees_[program].root() : at.parent->Find(at.answer);
    };
    AnswerTree::Node* node = find();
    if (node == nullptr) {
      Learn();
      if (stopped()) return {};
      node = find();
    }
    if (node == nullptr) {
      if (auto run = Execute(place, program); !run || stopped()) return run;
      at.executed = true;
      node = find();
      if (node == nullptr) {
        difference_ = "a program got other answers from its world than it should have";
        return {};
      }
    }
    Done done = AllOf(node->run().recording);
    if (!node->leaf()) {
      done.effects = node->next().effects;
      done.births = node->next().births;
    }
    Redo(done, at.tree, at.done);
    if (node->leaf()) {
      return Leaf(std::move(place), program, *node, at.executed, allowance, on_leaf);
    }
    at.done = std::move(done);
    const Question& question = node->next().question;
    auto options = place.world.Options(question, at.done, at.tree, *campaign_.store, place.Facts(),
                                       kMostAnswers);
    if (!options) {
      allowance.used_up = true;
      return {};
    }
    at.parent = node;
    if (options->size() == 1) {
      place.world = std::move(options->front().world);
      at.tree = std::move(options->front().tree);
      at.answer = options->front().answer;
      continue;
    }
    if (question.kind == Question::Kind::kLookup) CountOverdecided(question, *options);
    for (auto& option : *options) {
      Place next = place;
      next.world = std::move(option.world);
      // The first is the part that the lowest state, in which the program was started, is in.
      const bool executed = std::exchange(at.executed, false);
      Progress progress{node, option.answer, std::move(option.tree), at.done, executed};
      auto gone = Descend(std::move(next), program, std::move(progress), allowance, on_leaf);
      if (!gone) return gone;
    }
    return {};
  }
}

// A lookup tells size and mode with the name, wanted or not.
void LazyExplorer::CountOverdecided(const Question& question,
                                    const std::vector<UndecidedWorld::Option>& options) {
  std::set<Ino> leads_to;
  for (const auto& option : options) {
    const Entry* entry = option.tree.FindEntry(question.ino, question.name);
    leads_to.insert(entry == nullptr ? kNoIno : entry->ino);
  }
  shared_.counters().overdecided += options.size() - std::min(options.size(), leads_to.size());
}

Status LazyExplorer::Leaf(Place place, Program program, const AnswerTree::Node& node, bool executed,
                          Allowance& allowance, const OnLeaf& on_leaf) {
  if (allowance.leaves == 0) {
    allowance.used_up = true;
    return {};
  }
  --allowance.leaves;
  auto& counters = shared_.counters();
  if (!executed) {
    ++counters.shared;
    // In hundredths of a percent, drawn by how many there have been.
    constexpr std::uint64_t kAll = 10'000;
    if (Rng(campaign_.spec.seed ^ ++shared_leaves_).Below(kAll) < campaign_.spec.audit) {
      ++counters.audited;
      if (auto run = Execute(place, program); !run || stopped()) return run;
    }
  }
  place.executed = place.executed || executed;
  return on_leaf(std::move(place), node.run());
}

Status LazyExplorer::Execute(const Place& place, Program program) {
  ++shared_.counters().runs;
  QuestionLog log(place.Facts());
  RunRequest request;
  request.arguments = program == kRecovery ? campaign_.recover : campaign_.check;
  request.promises = place.promises;
  request.has_promises = true;
  request.output_is_promises = program == kRecovery;
  request.record = true;
  request.questions = &log;
  auto result = stage_.Run(BaseOf(place), request);
  if (!result) return tl::make_unexpected(result.error());
  shared_.counters().stragglers += result->report.stragglers;
  if (result->report.left_outside) ++shared_.counters().left_outside;
  auto run = std::make_shared<ProgramRun>();
  run->recording = result->recording;
  run->asked = log.asked();
  run->verdict = program == kRecovery ? JudgeRecovery(*result) : JudgeCheck(*result);
  if (program == kRecovery) {
    run->promised = result->output.substr(0, result->output.rfind('\n') + 1);
  }
  if (log.callers() > 1) shared_.counters().concurrent = 1;
  DigestChanges(*run, *campaign_.store);
  board_.Post(worker_ * 2 + program, EncodeRun(*run, *campaign_.store));
  Add(program, std::move(run));
  return {};
}

void LazyExplorer::Add(Program program, std::shared_ptr<const ProgramRun> run) {
  const std::string difference = trees_[program].Add(std::move(run));
  if (difference.empty()) return;
  difference_ = (program == kRecovery ? "recovery: " : "check: ") + difference;
}

void LazyExplorer::Learn() {
  while (const auto entry = board_.Next(board_position_)) {
    if (entry->kind / 2 == worker_) continue;
    auto run = DecodeRun(entry->bytes, *campaign_.store);
    if (run) Add(static_cast<Program>(entry->kind % 2), std::move(run));
  }
}

Status LazyExplorer::Judged(const Place& place, const Verdict& verdict, Allowance& allowance) {
  auto& counters = shared_.counters();
  const auto count = place.world.States();
  const std::uint64_t states = count ? count->Saturated() : UINT64_MAX;
  AddSaturated(counters.states, states);
  AddSaturated(counters.known, place.executed ? states - 1 : states);
  ++counters.leaves;
  if (verdict.good()) return {};
  if (--allowance.violations == 0) allowance.used_up = true;
  AddSaturated(
      verdict.judgement == Judgement::kCannotJudge ? counters.cannot_judge : counters.violations,
      states);
  return on_violation_(PlanOf(place), verdict, states);
}

// The states with the most kept: the least is lost.
Plan LazyExplorer::PlanOf(const Place& place) const {
  Plan plan{campaign_.history, place.steps};
  const auto intervals = place.world.Intervals();
  std::size_t next = 0;
  for (Step& step : plan.steps) {
    if (step.kind != Step::Kind::kPower) continue;
    CHECK(next < intervals.size());
    const auto& interval = intervals[next++];
    step.choice = interval.window->window().Token(interval.highest);
  }
  return plan;
}

Base LazyExplorer::BaseOf(const Place& place) const {
  if (place.exact) return *place.exact;
  Base base = AfterPowerLoss(*campaign_.workload, *campaign_.workload, 0, place.world.Build());
  base.next_op = place.next_op;
  base.next_ino = place.next_ino;
  return base;
}

std::shared_ptr<const Recording> LazyExplorer::Rebase(const Place& place,
                                                      const ProgramRun& run) const {
  const Recording& known = *run.recording;
  Recording moved;
  moved.start = BaseOf(place);
  moved.effects = moved.start.pending;
  const OpNumber by = moved.start.next_op - known.start.next_op;  // Wraps round, as it may.
  const auto old_pending = static_cast<std::uint32_t>(known.start.pending.size());
  const auto new_pending = static_cast<std::uint32_t>(moved.start.pending.size());
  for (std::size_t i = old_pending; i < known.effects.size(); ++i) {
    moved.effects.push_back(known.effects[i]);
    moved.effects.back().op += by;
  }
  moved.ops = known.ops;
  for (Op& op : moved.ops) {
    op.number += by;
    op.first_effect += new_pending - old_pending;
  }
  moved.births = known.births;
  for (Recording::Birth& birth : moved.births) birth.op += by;
  moved.promises = known.promises;
  for (Promise& promise : moved.promises) promise.cut += by;
  Engine engine(*campaign_.store, *campaign_.model, [] { return Nanoseconds{0}; });
  engine.Replay(moved);
  return engine.TakeRecording();
}

}  // namespace tornfs::harness
