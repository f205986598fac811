#include "fusefs/core/undecided.h"

#include <utility>

#include "common/check.h"

namespace tornfs {
namespace {

// What of `recording` was durable at `cut`. Requires that nothing was pending at its start.
void RedoDurable(const Recording& recording, OpNumber cut, Tree& tree) {
  for (const Recording::Birth& birth : recording.births) {
    if (birth.op < cut) tree.Add(birth.ino, birth.initial);
  }
  for (std::size_t i = 0; i < recording.effects.size(); ++i) {
    const Effect& effect = recording.effects[i];
    if (recording.durable_by[i] < cut && tree.Find(effect.ino) != nullptr) Apply(effect, tree);
  }
}

}  // namespace

Done AllOf(std::shared_ptr<const Recording> recording) {
  const std::size_t effects = recording->effects.size() - recording->start.pending.size();
  const std::size_t births = recording->births.size();
  return {std::move(recording), static_cast<std::uint32_t>(effects),
          static_cast<std::uint32_t>(births)};
}

void Redo(const Done& done, Tree& tree, const Done& since) {
  if (!done.recording) return;
  const Recording& recording = *done.recording;
  for (std::uint32_t i = since.births; i < done.births; ++i) {
    tree.Add(recording.births[i].ino, recording.births[i].initial);
  }
  const std::size_t pending = recording.start.pending.size();
  for (std::uint32_t i = since.effects; i < done.effects; ++i) {
    Apply(recording.effects[pending + i], tree);
  }
}

UndecidedWorld::UndecidedWorld(std::shared_ptr<const WindowIndex> window) {
  const Window& all = window->window();
  layers_.push_back({nullptr, kNever, window, all.None(), all.All()});
}

void UndecidedWorld::GoOn(std::shared_ptr<const Recording> recording) {
  layers_.push_back({std::move(recording), kNever, nullptr, {}, {}});
}

void UndecidedWorld::LosePower(std::shared_ptr<const Recording> recording, OpNumber cut,
                               std::shared_ptr<const WindowIndex> window) {
  const Window& all = window->window();
  layers_.push_back({std::move(recording), cut, window, all.None(), all.All()});
}

Tree UndecidedWorld::Build() const {
  Tree tree = start_ ? *start_ : layers_.front().window->window().base().durable;
  for (const Layer& layer : layers_) {
    if (layer.recording && layer.cut != kNever) RedoDurable(*layer.recording, layer.cut, tree);
    if (layer.recording && layer.cut == kNever) Redo(AllOf(layer.recording), tree);
    if (layer.window) tree = layer.window->window().StateOver(std::move(tree), layer.lowest);
  }
  return tree;
}

bool UndecidedWorld::decided() const {
  for (const Layer& layer : layers_) {
    if (layer.window && !(layer.lowest == layer.highest)) return false;
  }
  return true;
}

std::optional<BigCount> UndecidedWorld::States() const {
  BigCount product = 1;
  for (const Layer& layer : layers_) {
    if (!layer.window) continue;
    std::vector<bool> open(layer.lowest.kept.size());
    for (std::uint32_t node = 0; node < open.size(); ++node) open[node] = layer.IsOpen(node);
    const auto count = CountClosedSets(layer.window->window().nodes(), open);
    if (!count) return std::nullopt;
    product *= *count;
  }
  return product;
}

std::vector<UndecidedWorld::Interval> UndecidedWorld::Intervals() const {
  std::vector<Interval> intervals;
  for (const Layer& layer : layers_) {
    if (layer.window) intervals.push_back({layer.window, layer.lowest, layer.highest});
  }
  return intervals;
}

void UndecidedWorld::Decide(std::size_t index, const Choice& choice) {
  std::size_t seen = 0;
  for (Layer& layer : layers_) {
    if (!layer.window || seen++ != index) continue;
    CHECK(choice.kept.size() == layer.lowest.kept.size());
    layer.lowest = layer.highest = choice;
  }
}

void UndecidedWorld::Layer::Keep(std::uint32_t node) {
  const auto nodes = window->window().nodes();
  lowest.kept[node] = true;
  for (std::uint32_t i = node + 1; i-- > 0;) {
    if (!lowest.kept[i]) continue;
    for (const std::uint32_t earlier : nodes[i].requires_) lowest.kept[earlier] = true;
  }
}

void UndecidedWorld::Layer::Lose(std::uint32_t node) {
  highest.kept[node] = false;
  window->window().CloseUp(highest);
}

std::optional<std::pair<std::size_t, std::uint32_t>> UndecidedWorld::NextOpen(
    const Question& question, const Tree& tree) const {
  // A name first in every layer: only then is it known what it leads to.
  for (const bool name_only : {true, false}) {
    const bool lookup = question.kind == Question::Kind::kLookup;
    if (name_only && !lookup) continue;
    Question asked = question;
    if (name_only) asked.kind = Question::Kind::kName;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const Layer& layer = layers_[i];
      if (!layer.window) continue;
      const auto node =
          layer.window->Next(asked, tree, [&](std::uint32_t each) { return layer.IsOpen(each); });
      if (node) return std::pair{i, *node};
    }
  }
  return std::nullopt;
}

// The recursion of Options.
struct UndecidedWorld::Split {
  const Question& question;
  const Done& done;
  const ContentStore& store;
  const WorldFacts& facts;
  std::size_t limit;
  std::vector<Option> options = {};
  bool too_many = false;

  void Run(UndecidedWorld world, Tree tree) {
    if (too_many) return;
    const auto open = world.NextOpen(question, tree);
    if (!open) {
      too_many = options.size() >= limit;
      const Digest answer = AnswerTo(question, tree, store, facts);
      if (!too_many) options.push_back({std::move(world), std::move(tree), answer});
      return;
    }
    const auto [layer, node] = *open;
    const std::size_t before = options.size();
    UndecidedWorld without = world;
    without.layers_[layer].Lose(node);
    Run(std::move(without), tree);
    const std::size_t between = options.size();
    UndecidedWorld with = world;
    with.layers_[layer].Keep(node);
    Tree grown = with.Build();
    Redo(done, grown);
    Run(std::move(with), std::move(grown));
    const bool single = between == before + 1 && options.size() == between + 1;
    if (single && options[before].answer == options[between].answer) {
      options.pop_back();
      options.back().world = std::move(world);
      options.back().tree = std::move(tree);
    }
  }
};

std::optional<std::vector<UndecidedWorld::Option>> UndecidedWorld::Options(
    const Question& question, const Done& done, const Tree& tree, const ContentStore& store,
    const WorldFacts& facts, std::size_t limit) const {
  Split split{question, done, store, facts, limit};
  split.Run(*this, tree);
  if (split.too_many) return std::nullopt;
  return std::move(split.options);
}

}  // namespace tornfs
