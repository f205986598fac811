#include "fusefs/core/window_builder.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace tornfs {

WindowBuilder::WindowBuilder(Window& window)
    : window_(window),
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
  OpNumber op = 0;
  for (std::uint32_t i = 0; i < window_.effects().size(); ++i) {
    const Effect& effect = window_.effects()[i];
    if (effect.op != op) {
      op = effect.op;
      if (!this_op_.empty()) previous_op_ = std::exchange(this_op_, {});
    }
    if (Unreachable(effect)) continue;
    Place(i);
    Apply(effect, tree_);
  }
  for (auto& node : window_.nodes_) {
    std::sort(node.requires_.begin(), node.requires_.end());
    const auto end = std::unique(node.requires_.begin(), node.requires_.end());
    node.requires_.erase(end, node.requires_.end());
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

void WindowBuilder::PlaceData(std::uint32_t index) {
  const Effect& effect = window_.effects()[index];
  if (window_.model_->Whole(effect.group)) {
    PlaceDrop(index, NodeFor(effect));
    return;
  }
  const std::uint64_t end = effect.offset + effect.length;
  std::uint64_t at = effect.offset;
  while (at < end) {
    // Zeros change nothing where there is nothing, however long they are.
    if (effect.content == kZeros) {
      const std::uint64_t data = tree_.Find(effect.ino)->content.NextData(at);
      if (data >= end) break;
      at = std::max(at, data / unit_ * unit_);
    }
    const std::uint64_t slice_end = std::min(end, (at / unit_ + 1) * unit_);
    PlaceSlice(index, at, slice_end);
    at = slice_end;
  }
}

void WindowBuilder::PlaceSlice(std::uint32_t index, std::uint64_t begin, std::uint64_t end) {
  const Effect& effect = window_.effects()[index];
  if (!Changes(effect, begin, end)) return;
  const std::uint32_t node = NodeFor(effect);
  AddPart(node, index, begin, end);
  FileCells& cells = files_[effect.ino];
  const std::uint64_t unit = begin / unit_;
  if (const auto last = cells.by_unit.find(unit); last != cells.by_unit.end()) {
    Require(node, last->second);
  }
  for (const auto& run : cells.runs) {
    if (run.begin < end && begin < run.end) Require(node, run.node);
  }
  cells.by_unit[unit] = node;
}

// The blocks behind a truncation, in one part: they go with the size.
void WindowBuilder::PlaceDrop(std::uint32_t index, std::uint32_t node) {
  const Effect& effect = window_.effects()[index];
  const std::uint64_t end = effect.offset + effect.length;
  AddPart(node, index, effect.offset, end);
  FileCells& cells = files_[effect.ino];
  for (auto last = cells.by_unit.lower_bound(effect.offset / unit_);
       last != cells.by_unit.end() && last->first * unit_ < end; ++last) {
    Require(node, last->second);
  }
  for (const auto& run : cells.runs) {
    if (run.begin < end && effect.offset < run.end) Require(node, run.node);
  }
  cells.runs.push_back({effect.offset, end, node});
}

bool WindowBuilder::Changes(const Effect& effect, std::uint64_t begin, std::uint64_t end) const {
  std::array<std::byte, kPageBytes> before{};
  const std::span<std::byte> old = std::span(before).first(end - begin);
  tree_.Find(effect.ino)->content.Read(*window_.store_, begin, old);
  if (effect.content == kZeros) {
    return std::any_of(old.begin(), old.end(), [](std::byte b) { return b != std::byte{0}; });
  }
  const std::byte* bytes = window_.store_->At(effect.content + (begin - effect.offset));
  return std::memcmp(old.data(), bytes, old.size()) != 0;
}

void WindowBuilder::PlaceEntry(std::uint32_t index) {
  const Effect& effect = window_.effects()[index];
  const Entry* before = tree_.FindEntry(effect.ino, *effect.name);
  const Ino old = before == nullptr ? kNoIno : before->ino;
  if (old == effect.child) return;
  const std::uint32_t node = NodeFor(effect);
  AddPart(node, index, 0, 0);
  const auto [last, is_first] = entries_.try_emplace({effect.ino, *effect.name}, node);
  if (!is_first) Require(node, std::exchange(last->second, node));
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
  const std::uint32_t node = NodeFor(effect);
  AddPart(node, index, 0, 0);
  const auto [last, is_first] = values_.try_emplace({effect.ino, effect.kind}, node);
  if (!is_first) Require(node, std::exchange(last->second, node));
}

void WindowBuilder::PlaceXattr(std::uint32_t index) {
  const Effect& effect = window_.effects()[index];
  const XattrChange change = XattrChange::Of(*effect.name);
  const auto* before = tree_.Find(effect.ino)->xattrs.Find(change.name);
  const bool same = before == nullptr ? !change.value : change.value == **before;
  if (same) return;
  const std::uint32_t node = NodeFor(effect);
  AddPart(node, index, 0, 0);
  const auto [last, is_first] = xattrs_.try_emplace({effect.ino, std::string(change.name)}, node);
  if (!is_first) Require(node, std::exchange(last->second, node));
}

std::uint32_t WindowBuilder::NodeFor(const Effect& effect) {
  const bool one_write = window_.tear_ == Tear::kNone && effect.group == GroupTag::kAlone &&
                         (effect.kind == CellKind::kData || effect.kind == CellKind::kSize);
  const bool one_op = window_.model_->order == Order::kTotal && effect.kind != CellKind::kData &&
                      effect.kind != CellKind::kSize && effect.group == GroupTag::kAlone;
  const bool whole = one_write || one_op || window_.model_->Whole(effect.group);
  if (whole) {
    const auto found = groups_.find({effect.op, effect.group});
    if (found != groups_.end()) return found->second;
  }
  const auto node = static_cast<std::uint32_t>(window_.nodes_.size());
  window_.nodes_.push_back({effect.op, {}, {}});
  if (whole) groups_[{effect.op, effect.group}] = node;
  if (window_.model_->order == Order::kTotal) {
    for (const std::uint32_t earlier : previous_op_) Require(node, earlier);
    this_op_.push_back(node);
  }
  return node;
}

void WindowBuilder::AddPart(std::uint32_t node, std::uint32_t effect, std::uint64_t begin,
                            std::uint64_t end) {
  const Part part{effect, begin, end};
  window_.nodes_[node].parts.push_back(part);
  window_.steps_.push_back({node, part});
  const Effect& made = window_.effects()[effect];
  if (made.kind == CellKind::kData || made.kind == CellKind::kSize) {
    auto& clipped = window_.clipped_;
    if (std::find(clipped.begin(), clipped.end(), made.ino) == clipped.end()) {
      clipped.push_back(made.ino);
    }
  }
}

void WindowBuilder::Require(std::uint32_t node, std::uint32_t earlier) {
  if (earlier != node) window_.nodes_[node].requires_.push_back(earlier);
}

}  // namespace tornfs
