#include "harness/explore/fence_search.h"

#include <algorithm>
#include <map>
#include <set>

#include "harness/explore/admission.h"

namespace tornfs::harness {
namespace {

constexpr std::size_t kMostCandidates = 12;
// Windows with so few states are searched whole for the failing one.
constexpr std::uint64_t kSearched = 512;

std::string WithoutNumbers(const std::string& path) {
  std::string text;
  for (const char c : path) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) text += c;
    if (digit && !text.ends_with('#')) text += '#';
  }
  return text;
}

// Two ops that one line of the program makes, as far as can be seen.
bool Alike(const Op& a, const Op& b) {
  return a.kind == b.kind && WithoutNumbers(a.path) == WithoutNumbers(b.path) &&
         WithoutNumbers(a.to) == WithoutNumbers(b.to);
}

// What a barrier behind an op would be made on: the file whose data it changed, or a directory in
// which it changed a name.
struct Target {
  OpKind barrier = OpKind::kFsync;
  std::optional<std::size_t> name;  // Which of the names that the op changed; none: its data.
};

// The inode that `target` means for `op`, or kNoIno.
Ino InodeOf(const Recording& recording, const Op& op, const Target& target) {
  std::size_t names = 0;
  for (std::uint32_t i = op.first_effect; i < op.first_effect + op.effects; ++i) {
    const Effect& effect = recording.effects[i];
    const bool name = effect.kind == CellKind::kEntry;
    if (!target.name && !name) return effect.ino;
    if (target.name && name && names++ == *target.name) return effect.ino;
  }
  return kNoIno;
}

std::string DirectoryOf(const std::string& path) {
  return path.find('/') == std::string::npos ? "" : path.substr(0, path.rfind('/'));
}

// A failing state: where it is, and what is there.
struct Failing {
  CrashPoint point;
  PowerLossSeen seen;
  Digest state;
};

class FenceSearch {
 public:
  FenceSearch(const Campaign& campaign, const std::vector<Plan>& failing) : campaign_(campaign) {
    for (const Plan& plan : failing) {
      if (auto state = Look(plan)) failing_.push_back(std::move(*state));
    }
    complete_ = failing_.size() == failing.size() && !failing_.empty();
  }

  std::optional<Fence> Run(const Plan& finding) {
    const auto state = Look(finding);
    if (!state || !complete_) return std::nullopt;
    std::size_t tried = 0;
    for (const OpKind barrier : {OpKind::kFdatasync, OpKind::kFsync, OpKind::kFsyncdir}) {
      for (const OpNumber number : LostOps(*state)) {
        for (const Target& target : TargetsOf(number, barrier)) {
          if (++tried > kMostCandidates) return std::nullopt;
          if (auto fence = Try(number, target)) return fence;
        }
      }
    }
    return std::nullopt;
  }

 private:
  std::optional<Failing> Look(const Plan& plan) const {
    if (plan.steps.size() != 1 || plan.steps.front().kind != Step::Kind::kPower) return {};
    const Step& step = plan.steps.front();
    Window window(campaign_.workload->BaseAt(step.point.cut), *campaign_.model, campaign_.spec.tear,
                  *campaign_.store);
    auto choice = window.ChoiceOf(step.choice);
    if (!choice) return {};
    const Digest state = window.State(*choice).VisibleDigest(*campaign_.store);
    return Failing{step.point, {0, std::move(window), std::move(*choice)}, state};
  }

  static std::set<OpNumber> LostOps(const Failing& state) {
    std::set<OpNumber> ops;
    const auto nodes = state.seen.window.nodes();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (!state.seen.choice.kept[i]) ops.insert(nodes[i].op);
    }
    return ops;
  }

  std::vector<Target> TargetsOf(OpNumber number, OpKind barrier) const {
    const Op& op = campaign_.workload->At(number);
    std::size_t names = 0;
    bool contents = false;
    for (std::uint32_t i = op.first_effect; i < op.first_effect + op.effects; ++i) {
      const bool name = campaign_.workload->effects[i].kind == CellKind::kEntry;
      names += name ? 1 : 0;
      contents = contents || !name;
    }
    std::vector<Target> targets;
    if (barrier != OpKind::kFsyncdir && contents) targets.push_back({barrier, std::nullopt});
    // The new name of a rename is the last that it changes.
    for (std::size_t i = names; i-- > 0 && barrier == OpKind::kFsyncdir;) {
      targets.push_back({barrier, i});
    }
    return targets;
  }

  // One barrier behind each run of ops like op `number`.
  std::optional<Fence> Try(OpNumber number, const Target& target) const {
    const Recording& workload = *campaign_.workload;
    const Op& like = workload.At(number);
    Fence fence;
    fence.barrier = target.barrier;
    fence.after_kind = like.kind;
    bool named = false;  // After the run that op `number` is in.
    std::vector<AddedBarrier> added;
    for (std::size_t i = 0; i < workload.ops.size(); ++i) {
      const Op& op = workload.ops[i];
      if (!Alike(op, like)) continue;
      const Ino ino = InodeOf(workload, op, target);
      const bool goes_on = i + 1 < workload.ops.size() && Alike(workload.ops[i + 1], like) &&
                           InodeOf(workload, workload.ops[i + 1], target) == ino &&
                           !PromisedBefore(workload.ops[i + 1].number);
      if (ino == kNoIno || goes_on) continue;
      const std::string path = target.name ? DirectoryOf(op.to.empty() ? op.path : op.to) : op.path;
      added.push_back({op.number, target.barrier, ino, path});
      if (op.number < number || named) continue;
      named = true;
      fence.after = op.number;
      fence.path = path;
    }
    if (!Forbids(added)) return std::nullopt;
    fence.states = failing_.size();
    return fence;
  }

  [[nodiscard]] bool PromisedBefore(OpNumber number) const {
    return std::ranges::any_of(campaign_.workload->promises,
                               [&](const Promise& promise) { return promise.cut == number; });
  }

  // Whether with `added` no failing state is legal where as much has been promised.
  [[nodiscard]] bool Forbids(const std::vector<AddedBarrier>& added) const {
    if (added.empty()) return false;
    const auto history =
        WithBarriers(*campaign_.workload, added, *campaign_.model, *campaign_.store);
    const auto renumber = [&](OpNumber op) {
      const auto before = std::ranges::count_if(
          added, [&](const AddedBarrier& barrier) { return barrier.after < op; });
      return op + static_cast<OpNumber>(before);
    };
    std::map<std::size_t, std::vector<const Failing*>> by_promises;
    for (const Failing& state : failing_) by_promises[state.point.promises].push_back(&state);
    for (const CrashPoint& point : PowerPoints(*history)) {
      const auto states = by_promises.find(point.promises);
      if (states == by_promises.end()) continue;
      const Window window(history->BaseAt(point.cut), *campaign_.model, campaign_.spec.tear,
                          *campaign_.store);
      std::set<Digest> legal;
      if (window.Count(kSearched)) {
        for (const Choice& choice : window.Enumerate(kSearched)) {
          legal.insert(window.State(choice).VisibleDigest(*campaign_.store));
        }
      }
      for (const Failing* state : states->second) {
        if (legal.contains(state->state)) return false;
        if (Admits(window, state->seen, state->state, *campaign_.store, renumber)) return false;
      }
    }
    return true;
  }

  const Campaign& campaign_;
  std::vector<Failing> failing_;
  bool complete_ = false;
};

}  // namespace

std::shared_ptr<const Recording> WithBarriers(const Recording& recorded,
                                              const std::vector<AddedBarrier>& barriers,
                                              const Model& model, ContentStore& store) {
  Recording longer;
  longer.start = recorded.start;
  longer.effects = recorded.effects;
  longer.births = recorded.births;
  longer.promises = recorded.promises;
  const auto renumber = [&](OpNumber op) {
    const auto behind = std::ranges::lower_bound(barriers, op, {}, &AddedBarrier::after);
    return op + static_cast<OpNumber>(behind - barriers.begin());
  };
  std::size_t next = 0;
  for (const Op& op : recorded.ops) {
    longer.ops.push_back(op);
    longer.ops.back().number = renumber(op.number);
    for (; next < barriers.size() && barriers[next].after == op.number; ++next) {
      Op barrier;
      barrier.number = longer.ops.back().number + 1;
      barrier.kind = barriers[next].kind;
      barrier.ino = barriers[next].ino;
      barrier.path = barriers[next].path;
      barrier.pid = op.pid;
      barrier.time = op.time;
      barrier.first_effect = op.first_effect + op.effects;
      longer.ops.push_back(std::move(barrier));
    }
  }
  for (std::size_t i = recorded.start.pending.size(); i < longer.effects.size(); ++i) {
    longer.effects[i].op = renumber(longer.effects[i].op);
  }
  for (Recording::Birth& birth : longer.births) birth.op = renumber(birth.op);
  for (Promise& promise : longer.promises) promise.cut = renumber(promise.cut);
  Engine engine(store, model, [] { return Nanoseconds{0}; });
  engine.Replay(longer);
  return engine.TakeRecording();
}

std::optional<Fence> SuggestFence(const Campaign& campaign, const Plan& finding,
                                  const std::vector<Plan>& failing) {
  return FenceSearch(campaign, failing).Run(finding);
}

}  // namespace tornfs::harness
