// WindowBuilder: what a model bundles, orders and excepts.
#include <algorithm>

#include "fusefs/core/journal_order.h"
#include "fusefs/core/window_builder.h"

namespace tornfs {

// Whether the effect's node is in the order of the calls.
bool WindowBuilder::Ordered(std::uint32_t index) const {
  switch (model_.order()) {
    case Order::kNone: return false;
    case Order::kCalls: return true;
    case Order::kJournal: return IsJournalled(model_, window_.effects(), index);
  }
  return false;
}

std::uint32_t WindowBuilder::NodeFor(std::uint32_t index) {
  const Effect& effect = window_.effects()[index];
  const bool content = effect.kind == CellKind::kData || effect.kind == CellKind::kSize;
  const bool alone = effect.group == GroupTag::kAlone;
  const bool ordered = Ordered(index);
  if (model_.order() == Order::kJournal) {
    const bool written =
        IsWrittenSize(window_.effects(), index) ||
        (effect.kind == CellKind::kData && alone && !IsTruncatedTail(window_.effects(), index));
    if (IsJournalled(model_, window_.effects(), index) && !(written && !model_.data_in_journal())) {
      return NodeOf(Bundle::kCall, 0, ordered);
    }
  }
  if (model_.order() == Order::kCalls && alone && (!content || window_.tear_ == Tear::kNone) &&
      !IsTruncatedTail(window_.effects(), index)) {
    return NodeOf(Bundle::kCall, 0, ordered);
  }
  if (IsTruncatedTail(window_.effects(), index) &&
      model_.truncated_tail() == TruncatedTail::kWhole) {
    return NodeOf(Bundle::kGroup, static_cast<std::uint64_t>(GroupTag::kTruncate), ordered);
  }
  if (window_.tear_ == Tear::kNone && alone && content) {
    const bool sized = model_.order() == Order::kJournal && op_.writes;
    return NodeOf(Bundle::kWrite, 0, ordered || sized);
  }
  if (model_.Whole(effect.group)) {
    return NodeOf(Bundle::kGroup, static_cast<std::uint64_t>(effect.group), ordered);
  }
  return NewNode(ordered);
}

std::uint32_t WindowBuilder::NodeOf(Bundle bundle, std::uint64_t part, bool chained) {
  const auto found = bundles_.find({op_.number, bundle, part});
  if (found != bundles_.end()) return found->second;
  const std::uint32_t node = NewNode(chained);
  bundles_[{op_.number, bundle, part}] = node;
  return node;
}

std::uint32_t WindowBuilder::NewNode(bool chained) {
  const auto node = static_cast<std::uint32_t>(window_.nodes_.size());
  window_.nodes_.push_back({op_.number, {}, {}});
  if (chained) {
    for (const std::uint32_t earlier : previous_op_) {
      if (!op_.overtakes) Require(node, earlier);
    }
    this_op_.push_back(node);
  }
  return node;
}

void WindowBuilder::AddPart(std::uint32_t node, const Part& part) {
  window_.nodes_[node].parts.push_back(part);
  const Effect& made = window_.effects()[part.effect];
  const bool stale = part.kind == PartKind::kStale;
  if (!stale && made.kind != CellKind::kData && made.kind != CellKind::kSize) return;
  const Ino ino = stale ? part.ino : made.ino;
  auto& clipped = window_.clipped_;
  if (std::find(clipped.begin(), clipped.end(), ino) == clipped.end()) clipped.push_back(ino);
}

void WindowBuilder::Require(std::uint32_t node, std::uint32_t earlier) {
  if (earlier != node) window_.nodes_[node].requires_.push_back(earlier);
}

bool WindowBuilder::Logged(Ino ino) const {
  return std::ranges::binary_search(window_.base_.logged, ino);
}

// Whether a change to the names of `ino` may survive before older calls.
bool WindowBuilder::Overtakes(Ino ino) const {
  return model_.logged_names() == LoggedNames::kFree && Logged(ino);
}

// `first` is the half that takes the old name away, the next effect the one that sets the new.
void WindowBuilder::PrepareRename(std::uint32_t first) {
  const Effect& from = window_.effects()[first];
  const Effect& to = window_.effects()[first + 1];
  const Ino moved = to.child;
  op_.overtakes = Overtakes(moved);
  if (from.child != kNoIno) return;  // An exchange replaces nothing.
  const Entry* target = tree_.FindEntry(to.ino, *to.name);
  if (target == nullptr || target->ino == moved) return;
  op_.replaces = first + 1;
  const bool may_be_lost = MayLoseReplacement(to);
  if (may_be_lost && model_.lost_replacement() == LostReplacement::kMust &&
      YoungerEntryDurable(to)) {
    window_.base_.durable.SetEntry(to.ino, *to.name, kNoIno);
    tree_.SetEntry(to.ino, *to.name, kNoIno);
  } else if (may_be_lost || !model_.Whole(GroupTag::kRename)) {
    AddRemoval(first + 1);
  }
}

// A moment in which the name that a rename takes over is gone.
void WindowBuilder::AddRemoval(std::uint32_t index) {
  const Effect& effect = window_.effects()[index];
  const std::uint32_t node = NewNode(false);
  AddPart(node, {index, 0, 0, PartKind::kRemoval});
  const auto [last, is_first] = entries_.try_emplace({effect.ino, *effect.name}, node);
  if (!is_first) Require(node, std::exchange(last->second, node));
  for (const std::uint32_t earlier : std::exchange(op_.waits_for, {})) Require(node, earlier);
}

bool WindowBuilder::MayLoseReplacement(const Effect& effect) const {
  if (model_.lost_replacement() == LostReplacement::kNo) return false;
  if (entries_.contains({effect.ino, *effect.name})) return false;
  const Tree& durable = window_.base_.durable;
  const Entry* old = durable.FindEntry(effect.ino, *effect.name);
  const Inode* moved = durable.Find(effect.child);
  return old != nullptr && Logged(old->ino) && old->ino >= window_.base_.first_new &&
         moved != nullptr && moved->links == 0;
}

// A durable entry of the directory that is younger than this rename was synced by itself: the
// directory's time of change is that of its youngest durable entry.
bool WindowBuilder::YoungerEntryDurable(const Effect& effect) const {
  const Inode* dir = window_.base_.durable.Find(effect.ino);
  return dir != nullptr && dir->mtime > effect.time;
}

void WindowBuilder::WaitForReplacement(std::uint32_t index, std::uint32_t node) {
  const Ino moved = window_.effects()[index].child;
  const Inode* durable = window_.base_.durable.Find(moved);
  const bool was_empty = durable == nullptr || durable->size == 0;
  const Replace replace = model_.replace();
  if (replace == Replace::kNothing || (replace == Replace::kOldData && was_empty)) return;
  const auto size = values_.find({moved, CellKind::kSize});
  if (size != values_.end()) Require(node, size->second);
  if (replace == Replace::kSize) return;
  for (const auto& [unit, data] : files_[moved].by_unit) Require(node, data);
}

void WindowBuilder::FreeBlocks(std::uint32_t index, Ino ino, std::uint64_t begin) {
  const Inode* inode = tree_.Find(ino);
  if (!model_.reuse() || window_.tear_ == Tear::kNone || !inode->IsRegular()) return;
  // One by one the first few, so that a large file does not make a node for each page.
  constexpr std::size_t kSingle = 16;
  FileCells& cells = files_[ino];
  std::uint32_t node = 0;
  std::size_t pages = 0;
  for (std::uint64_t at = begin;; ++pages) {
    const std::uint64_t data = inode->content.NextData(at);
    if (data >= inode->size) break;
    const std::uint64_t page = data / kPageBytes * kPageBytes;
    const std::uint64_t end = std::min(page + kPageBytes, inode->size);
    if (pages <= kSingle) {
      node = StaleNode(index, ino, page, end);
      op_.waits_for.push_back(node);
    } else {
      AddPart(node, {index, page, end, PartKind::kStale, ino});
    }
    RequireCells(node, cells, page, end);
    at = end;
  }
}

}  // namespace tornfs
