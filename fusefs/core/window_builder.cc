#include "fusefs/core/window_builder.h"

#include <algorithm>

#include "fusefs/core/journal_order.h"

namespace tornfs {

WindowBuilder::WindowBuilder(Window& window)
    : window_(window),
      model_(*window.model_),
      tree_(window.base_.durable),
      unit_(window.tear_ == Tear::kSector ? kSectorBytes : kPageBytes) {
  for (const Effect& effect : window.effects()) {
    if (effect.child != kNoIno) reachable_.insert(effect.child);
  }
}

// What was done to an inode that no durable name leads to and no pending entry can lead to is gone
// in every state. A pending removal says nothing: it can be lost.
// Half of a rename counts all the same: it ties the other half, which may lie elsewhere.
bool WindowBuilder::Unreachable(const Effect& effect) const {
  if (effect.group == GroupTag::kRename) return false;
  const Inode* inode = window_.base_.durable.Find(effect.ino);
  return inode == nullptr || (inode->links == 0 && !reachable_.contains(effect.ino));
}

void WindowBuilder::Build() {
  for (std::uint32_t i = 0; i < window_.effects().size(); ++i) {
    const Effect& effect = window_.effects()[i];
    if (effect.op != op_.number) {
      EndOp();
      StartOp(i);
    }
    if (Unreachable(effect)) continue;
    Place(i);
    Apply(effect, tree_);
  }
  EndOp();
  Finish();
}

void WindowBuilder::StartOp(std::uint32_t index) {
  if (!this_op_.empty()) {
    if (!op_.overtakes) previous_op_.clear();
    previous_op_.insert(previous_op_.end(), this_op_.begin(), this_op_.end());
    this_op_.clear();
  }
  op_ = {};
  op_.number = window_.effects()[index].op;
  if (!model_.data_in_journal() && !model_.sizes_in_journal()) return;
  for (std::size_t i = index;
       i < window_.effects().size() && window_.effects()[i].op == op_.number && !op_.writes; ++i) {
    op_.writes = IsWrittenSize(window_.effects(), i);
  }
}

void WindowBuilder::EndOp() {
  for (const auto& [effect, before] : op_.sizes) PlaceWrittenSize(effect, before);
  op_.sizes.clear();
}

// Nodes were numbered as they were met; where one came to require a younger one (a bundle that gets
// another page) they are numbered anew, each after what it requires.
void WindowBuilder::SortNodes() {
  std::vector<Node>& nodes = window_.nodes_;
  std::vector<std::uint32_t> order;
  std::vector<std::uint32_t> place(nodes.size(), UINT32_MAX);
  while (order.size() < nodes.size()) {
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
      const bool ready = place[i] == UINT32_MAX &&
                         std::ranges::all_of(nodes[i].requires_, [&](std::uint32_t earlier) {
                           return place[earlier] != UINT32_MAX;
                         });
      if (!ready) continue;
      place[i] = static_cast<std::uint32_t>(order.size());
      order.push_back(i);
    }
  }
  std::vector<Node> sorted;
  for (const std::uint32_t i : order) {
    sorted.push_back(std::move(nodes[i]));
    for (std::uint32_t& earlier : sorted.back().requires_) earlier = place[earlier];
    for (Part& part : sorted.back().parts) {
      if (part.hidden_by != UINT32_MAX) part.hidden_by = place[part.hidden_by];
    }
  }
  nodes = std::move(sorted);
}

void WindowBuilder::Finish() {
  SortNodes();
  for (std::uint32_t i = 0; i < window_.nodes_.size(); ++i) {
    Node& node = window_.nodes_[i];
    std::sort(node.requires_.begin(), node.requires_.end());
    const auto end = std::unique(node.requires_.begin(), node.requires_.end());
    node.requires_.erase(end, node.requires_.end());
    for (const Part& part : node.parts) window_.steps_.push_back({i, part});
  }
  std::stable_sort(window_.steps_.begin(), window_.steps_.end(),
                   [](const auto& a, const auto& b) { return a.part.effect < b.part.effect; });
  window_.all_ = std::move(tree_);
}

void WindowBuilder::Place(std::uint32_t index) {
  switch (window_.effects()[index].kind) {
    case CellKind::kData: return PlaceData(index);
    case CellKind::kEntry: return PlaceEntry(index);
    case CellKind::kXattr: return PlaceXattr(index);
    default: return PlaceValue(index);
  }
}

void WindowBuilder::PlaceEntry(std::uint32_t index) {
  const Effect& effect = window_.effects()[index];
  const auto next = index + 1;
  const bool halves = effect.group == GroupTag::kRename && next < window_.effects().size() &&
                      window_.effects()[next].op == effect.op &&
                      window_.effects()[next].group == GroupTag::kRename;
  if (halves) PrepareRename(index);
  const Entry* before = tree_.FindEntry(effect.ino, *effect.name);
  const Ino old = before == nullptr ? kNoIno : before->ino;
  if (old == effect.child) return;
  const bool last_name = old != kNoIno && effect.child == kNoIno && tree_.Find(old)->links == 1;
  if (last_name && effect.group == GroupTag::kAlone) FreeBlocks(index, old, 0);
  const Ino named = effect.child == kNoIno ? old : effect.child;
  if (effect.group == GroupTag::kAlone) op_.overtakes = Overtakes(named);
  const std::uint32_t node = NodeFor(index);
  AddPart(node, {index, 0, 0});
  const auto [last, is_first] = entries_.try_emplace({effect.ino, *effect.name}, node);
  if (!is_first) Require(node, std::exchange(last->second, node));
  for (const std::uint32_t earlier : op_.waits_for) Require(node, earlier);
  if (op_.replaces == index) WaitForReplacement(index, node);
  const Inode* child = tree_.Find(effect.child == kNoIno ? old : effect.child);
  if (child != nullptr && child->IsDirectory()) window_.directories_move_ = true;
}

void WindowBuilder::PlaceValue(std::uint32_t index) {
  const Effect& effect = window_.effects()[index];
  const Inode& inode = *tree_.Find(effect.ino);
  const std::uint64_t before = effect.kind == CellKind::kSize   ? inode.size
                               : effect.kind == CellKind::kMode ? inode.mode & ~mode_t{S_IFMT}
                               : effect.kind == CellKind::kUid  ? inode.uid
                               : effect.kind == CellKind::kGid  ? inode.gid
                                                                : inode.flags;
  if (before == effect.value) return;
  if (effect.kind == CellKind::kSize) {
    const bool written = IsWrittenSize(window_.effects(), index);
    const bool in_steps = written && model_.size_steps() != SizeSteps::kPart;
    if (in_steps && window_.tear_ != Tear::kNone) {
      op_.sizes.emplace_back(index, before);
      return;
    }
    if (effect.group == GroupTag::kTruncate) PlaceTail(index);
    if (written) return PlaceSizeStep(index, UINT64_MAX, effect.value);
  }
  const std::uint32_t node = NodeFor(index);
  AddPart(node, {index, 0, 0});
  const auto [last, is_first] = values_.try_emplace({effect.ino, effect.kind}, node);
  if (!is_first) Require(node, std::exchange(last->second, node));
  for (const std::uint32_t earlier : op_.waits_for) Require(node, earlier);
}

void WindowBuilder::PlaceXattr(std::uint32_t index) {
  const Effect& effect = window_.effects()[index];
  const XattrChange change = XattrChange::Of(*effect.name);
  const auto* before = tree_.Find(effect.ino)->xattrs.Find(change.name);
  const bool same = before == nullptr ? !change.value : change.value == **before;
  if (same) return;
  const std::uint32_t node = NodeFor(index);
  AddPart(node, {index, 0, 0});
  const auto [last, is_first] = xattrs_.try_emplace({effect.ino, std::string(change.name)}, node);
  if (!is_first) Require(node, std::exchange(last->second, node));
  for (const std::uint32_t earlier : op_.waits_for) Require(node, earlier);
}

}  // namespace tornfs
