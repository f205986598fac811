#include "harness/explore/admission.h"

#include <algorithm>

namespace tornfs::harness {
namespace {

// Whether `part` of `effect` overlaps something that was lost in `seen`.
bool WasLost(const PowerLossSeen& seen, const Effect& effect, const Part& part,
             const Renumber& renumber) {
  for (std::uint32_t i = 0; i < seen.window.nodes().size(); ++i) {
    if (seen.choice.kept[i]) continue;
    for (const Part& lost : seen.window.nodes()[i].parts) {
      const Effect& other = seen.window.effects()[lost.effect];
      const bool same_cells = renumber(other.op) == effect.op && other.kind == effect.kind &&
                              other.ino == effect.ino &&
                              (effect.name == nullptr || *other.name == *effect.name);
      if (!same_cells) continue;
      if (effect.kind != CellKind::kData || (lost.begin < part.end && part.begin < lost.end)) {
        return true;
      }
    }
  }
  return false;
}

// The choice of `window` that keeps what `seen` kept.
Choice SameChoice(const Window& window, const PowerLossSeen& seen, const Renumber& renumber) {
  Choice choice = window.All();
  for (std::uint32_t i = 0; i < window.nodes().size(); ++i) {
    const Node& node = window.nodes()[i];
    choice.kept[i] = std::ranges::none_of(node.parts, [&](const Part& part) {
      return WasLost(seen, window.effects()[part.effect], part, renumber);
    });
    for (const Choice::Torn& torn : seen.choice.torn) {
      const Part& part = seen.window.nodes()[torn.node].parts.front();
      const Effect& effect = seen.window.effects()[part.effect];
      const Effect& own = window.effects()[node.parts.front().effect];
      if (own.op == renumber(effect.op) && own.ino == effect.ino && own.kind == effect.kind &&
          node.parts.front().begin == part.begin) {
        choice.torn.push_back({i, torn.bytes});
      }
    }
  }
  return choice;
}

}  // namespace

bool Admits(const Window& window, const PowerLossSeen& seen, const Digest& state,
            const ContentStore& store, const Renumber& renumber) {
  const Choice choice = SameChoice(window, seen, renumber);
  return window.Legal(choice) && window.State(choice).VisibleDigest(store) == state;
}

std::vector<std::string> AdmittedBy(const PlanContext& context, const Plan& plan,
                                    const PlanRun& run) {
  if (plan.steps.size() != 1 || run.power_losses.empty()) {
    return {std::string(context.model.name)};
  }
  const Digest state = run.crashed.base.durable.VisibleDigest(context.store);
  std::vector<std::string> names;
  for (const Model& model : Models()) {
    Engine engine(context.store, model, [] { return Nanoseconds{0}; });
    engine.Replay(*context.workload);
    const auto history = engine.TakeRecording();
    const Window window(history->BaseAt(plan.steps.front().point.cut), model, context.tear,
                        context.store);
    const bool admitted = Admits(window, run.power_losses.front(), state, context.store,
                                 [](OpNumber op) { return op; });
    if (admitted) names.emplace_back(model.name);
  }
  return names;
}

}  // namespace tornfs::harness
