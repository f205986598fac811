#include "fusefs/core/window.h"

#include <algorithm>

#include "common/check.h"
#include "fusefs/core/window_builder.h"

namespace tornfs {

Window::Window(Base base, const Model& model, Tear tear, const ContentStore& store)
    : base_(std::move(base)), model_(&model), tear_(model.Effective(tear)), store_(&store) {
  WindowBuilder(*this).Build();
}

bool Window::Legal(const Choice& choice) const {
  if (choice.kept.size() != nodes_.size()) return false;
  const auto kept = [&](std::uint32_t node) { return choice.kept[node]; };
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    if (kept(i) && !std::ranges::all_of(nodes_[i].requires_, kept)) return false;
  }
  for (const Choice::Torn& torn : choice.torn) {
    if (tear_ != Tear::kByte || torn.node >= nodes_.size() || kept(torn.node)) return false;
    const Node& node = nodes_[torn.node];
    const Part& part = node.parts.front();
    if (!Tearable(torn.node) || torn.bytes == 0 || torn.bytes >= part.end - part.begin)
      return false;
    if (!std::ranges::all_of(node.requires_, kept)) return false;
  }
  return true;
}

void Window::CloseDown(Choice& choice) const {
  for (std::uint32_t i = static_cast<std::uint32_t>(nodes_.size()); i-- > 0;) {
    if (!choice.kept[i]) continue;
    for (const std::uint32_t earlier : nodes_[i].requires_) choice.kept[earlier] = true;
  }
}

void Window::CloseUp(Choice& choice) const {
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    for (const std::uint32_t earlier : nodes_[i].requires_) {
      if (!choice.kept[earlier]) choice.kept[i] = false;
    }
  }
}

Choice Window::Random(Rng& rng) const {
  Choice choice = None();
  if (nodes_.empty()) return choice;
  const std::uint64_t mood = rng.Below(4);
  if (mood == 0) {
    choice = All();
    for (std::uint64_t n = 1 + rng.Below(3); n > 0; --n)
      choice.kept[rng.Below(nodes_.size())] = false;
    CloseUp(choice);
  } else if (mood == 1) {
    for (std::uint64_t n = 1 + rng.Below(3); n > 0; --n)
      choice.kept[rng.Below(nodes_.size())] = true;
    CloseDown(choice);
  } else {
    const double threshold = rng.Unit();
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) choice.kept[i] = rng.Unit() <= threshold;
    CloseUp(choice);
  }
  if (tear_ != Tear::kByte) return choice;
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    if (choice.kept[i] || rng.Below(4) != 0) continue;
    const bool free = std::ranges::all_of(nodes_[i].requires_,
                                          [&](std::uint32_t node) { return choice.kept[node]; });
    const auto cuts = free ? TearCuts(i) : std::vector<std::uint64_t>();
    if (!cuts.empty()) choice.torn.push_back({i, cuts[rng.Below(cuts.size())]});
  }
  return choice;
}

bool Window::Tearable(std::uint32_t node) const {
  const std::vector<Part>& parts = nodes_[node].parts;
  return tear_ == Tear::kByte && parts.size() == 1 && parts.front().kind == PartKind::kMade &&
         effects()[parts.front().effect].kind == CellKind::kData;
}

std::vector<std::uint64_t> Window::TearCuts(std::uint32_t node) const {
  std::vector<std::uint64_t> cuts;
  if (!Tearable(node)) return cuts;
  const Part& part = nodes_[node].parts.front();
  const Effect& effect = effects()[part.effect];
  // What the page held before this write: every earlier version of it is required, so it is what
  // the state of everything before this node holds.
  Choice before = None();
  for (const std::uint32_t earlier : nodes_[node].requires_) before.kept[earlier] = true;
  CloseDown(before);
  const std::uint64_t length = part.end - part.begin;
  std::vector<std::byte> old(length);
  const Tree tree = Build(base_.durable, before);
  tree.Find(effect.ino)->content.Read(*store_, part.begin, old);
  std::vector<std::byte> written(length);
  if (effect.content != kZeros) {
    const std::byte* bytes = store_->At(effect.content + (part.begin - effect.offset));
    std::copy(bytes, bytes + length, written.begin());
  }
  bool differs_before = false;
  for (std::uint64_t at = 0; at < length; ++at) {
    if (at > 0 && differs_before && old[at] != written[at]) cuts.push_back(at);
    differs_before = differs_before || old[at] != written[at];
  }
  return cuts;
}

namespace {

// Walks the legal sets in a fixed order; `visit` answers false to stop.
template <class Visit>
bool WalkChoices(std::span<const Node> nodes, std::uint32_t at, Choice& choice, Visit& visit) {
  if (at == nodes.size()) return visit(choice);
  choice.kept[at] = false;
  if (!WalkChoices(nodes, at + 1, choice, visit)) return false;
  const bool may = std::ranges::all_of(nodes[at].requires_,
                                       [&](std::uint32_t node) { return choice.kept[node]; });
  if (may) {
    choice.kept[at] = true;
    if (!WalkChoices(nodes, at + 1, choice, visit)) return false;
    choice.kept[at] = false;
  }
  return true;
}

}  // namespace

std::optional<std::uint64_t> Window::Count(std::uint64_t limit) const {
  if (nodes_.size() >= limit) return std::nullopt;  // There are more legal sets than nodes.
  std::uint64_t count = 0;
  Choice choice = None();
  auto visit = [&](const Choice&) { return ++count <= limit; };
  if (!WalkChoices(nodes_, 0, choice, visit)) return std::nullopt;
  return count;
}

std::vector<Choice> Window::Enumerate(std::uint64_t limit) const {
  std::vector<Choice> choices;
  Choice choice = None();
  auto visit = [&](const Choice& each) {
    choices.push_back(each);
    return choices.size() <= limit;
  };
  CHECK(WalkChoices(nodes_, 0, choice, visit));
  return choices;
}

Tree Window::Build(Tree tree, const Choice& choice) const {
  const auto torn_bytes = [&](std::uint32_t node) -> std::uint64_t {
    for (const Choice::Torn& torn : choice.torn) {
      if (torn.node == node) return torn.bytes;
    }
    return 0;
  };
  for (const auto& [node, part] : steps_) {
    const std::uint64_t torn = choice.kept[node] ? 0 : torn_bytes(node);
    if (!choice.kept[node] && torn == 0) continue;
    Effect effect = effects()[part.effect];
    if (part.kind == PartKind::kStale) {
      if (part.hidden_by != UINT32_MAX && choice.kept[part.hidden_by]) continue;
      effect.kind = CellKind::kData;
      effect.ino = part.ino;
      effect.offset = part.begin;
      effect.content = ContentStore::kStale;
    }
    if (part.kind == PartKind::kSizeStep) effect.value = part.end;
    if (part.kind == PartKind::kRemoval) effect.child = kNoIno;
    if (effect.kind == CellKind::kData) {
      if (effect.content != kZeros) effect.content += part.begin - effect.offset;
      effect.offset = part.begin;
      effect.length = torn == 0 ? part.end - part.begin : torn;
    }
    Apply(effect, tree);
  }
  return tree;
}

Tree Window::StateOver(Tree durable, const Choice& choice) const {
  Tree tree = Build(std::move(durable), choice);
  for (const Ino ino : clipped_) {
    const Inode* inode = tree.Find(ino);
    if (inode->content.NextData(inode->size) != UINT64_MAX) {
      Inode& changed = tree.Change(ino);
      changed.content.Cut(changed.size);
    }
  }
  if (directories_move_) tree.KeepReachable();
  return tree;
}

}  // namespace tornfs
