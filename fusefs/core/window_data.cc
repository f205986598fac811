// WindowBuilder: data and the sizes that writes make.
#include <algorithm>
#include <array>
#include <cstring>

#include "fusefs/core/journal_order.h"
#include "fusefs/core/window_builder.h"

namespace tornfs {
namespace {

std::uint64_t RoundUp(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

void WindowBuilder::PlaceData(std::uint32_t index) {
  const Effect& effect = window_.effects()[index];
  if (model_.Whole(effect.group)) {
    PlaceDrop(index, NodeFor(index));
    return;
  }
  const bool tail = IsTruncatedTail(window_.effects(), index);
  if (tail && model_.truncated_tail() == TruncatedTail::kFirst) return;  // PlaceTail did it.
  if (op_.ino != effect.ino) {
    op_.ino = effect.ino;
    op_.size_before = tree_.Find(effect.ino)->size;
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

// The zeroed rest of the last block, where it can only be there before the size that `index` made.
void WindowBuilder::PlaceTail(std::uint32_t index) {
  const auto effects = window_.effects();
  for (std::uint32_t i = index + 1; i < effects.size() && effects[i].op == op_.number; ++i) {
    const Effect& effect = effects[i];
    if (effect.group == GroupTag::kTruncate && effect.kind == CellKind::kData) {
      FreeBlocks(index, effect.ino, effect.offset);
    }
    if (model_.truncated_tail() != TruncatedTail::kFirst || !IsTruncatedTail(effects, i)) continue;
    const std::size_t before = op_.pieces.size();
    PlaceSlice(i, effect.offset, effect.offset + effect.length);
    if (op_.pieces.size() > before) op_.waits_for.push_back(op_.pieces.back().node);
  }
}

void WindowBuilder::PlaceSlice(std::uint32_t index, std::uint64_t begin, std::uint64_t end) {
  const Effect& effect = window_.effects()[index];
  if (!Changes(effect, begin, end)) return;
  const Block block = BlockAt(effect, begin);
  FileCells& cells = files_[effect.ino];
  std::optional<std::uint32_t> stale;
  if (model_.stale() && window_.tear_ != Tear::kNone && Unmapped(effect.ino, begin)) {
    const std::uint64_t stale_begin = begin / unit_ * unit_;
    stale = StaleNode(index, effect.ino, stale_begin, RoundUp(end, unit_));
    RequireCells(*stale, cells, stale_begin, RoundUp(end, unit_));
  }
  const std::uint32_t node = DataNode(index, begin, block);
  AddPart(node, {index, begin, end});
  RequireCells(node, cells, begin, end);
  cells.by_unit[begin / unit_] = node;
  if (stale) {
    Require(node, *stale);
    window_.nodes_[*stale].parts.back().hidden_by = node;
  }
  op_.pieces.push_back({effect.ino, begin, node, block});
}

void WindowBuilder::RequireCells(std::uint32_t node, FileCells& cells, std::uint64_t begin,
                                 std::uint64_t end) {
  for (auto last = cells.by_unit.lower_bound(begin / unit_);
       last != cells.by_unit.end() && last->first * unit_ < end; ++last) {
    Require(node, last->second);
  }
  for (const auto& run : cells.runs) {
    if (run.begin < end && begin < run.end) Require(node, run.node);
  }
}

// The blocks behind a truncation, in one part: they go with the size.
void WindowBuilder::PlaceDrop(std::uint32_t index, std::uint32_t node) {
  const Effect& effect = window_.effects()[index];
  const std::uint64_t end = effect.offset + effect.length;
  AddPart(node, {index, effect.offset, end});
  FileCells& cells = files_[effect.ino];
  RequireCells(node, cells, effect.offset, end);
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

bool WindowBuilder::Unmapped(Ino ino, std::uint64_t at) const {
  const std::uint64_t page = at / kPageBytes * kPageBytes;
  return tree_.Find(ino)->content.NextData(page) >= page + kPageBytes;
}

WindowBuilder::Block WindowBuilder::BlockAt(const Effect& effect, std::uint64_t begin) {
  const std::uint64_t page = begin / kPageBytes;
  FileCells& cells = files_[effect.ino];
  if (cells.fresh_pages.contains(page)) return Block::kFresh;
  if (Unmapped(effect.ino, begin)) {
    cells.fresh_pages.insert(page);
    return Block::kFresh;
  }
  return op_.size_before < (page + 1) * kPageBytes ? Block::kTail : Block::kInside;
}

std::uint32_t WindowBuilder::DataNode(std::uint32_t index, std::uint64_t begin, Block block) {
  if (window_.tear_ == Tear::kNone || model_.order() == Order::kCalls) return NodeFor(index);
  const std::uint64_t page = begin / kPageBytes;
  if (IsTruncatedTail(window_.effects(), index)) {
    if (model_.truncated_tail() == TruncatedTail::kWhole) return NodeFor(index);
    const std::uint32_t node = NewNode(false);
    const auto call = model_.order() == Order::kJournal ? Bundle::kCall : Bundle::kGroup;
    const std::uint64_t part =
        call == Bundle::kCall ? 0 : static_cast<std::uint64_t>(GroupTag::kTruncate);
    const auto cut = bundles_.find({op_.number, call, part});
    if (cut == bundles_.end()) return node;
    if (model_.truncated_tail() == TruncatedTail::kLast) Require(node, cut->second);
    return node;
  }
  if (model_.data_in_journal()) {
    if (op_.writes) return NodeOf(Bundle::kCall, 0, true);
    const bool is_new = !bundles_.contains({op_.number, Bundle::kBlock, page});
    const std::uint32_t node = NodeOf(Bundle::kBlock, page, true);
    if (is_new) {
      previous_op_ = {node};
      this_op_ = {node};
    }
    return node;
  }
  if (block == Block::kFresh) {
    switch (model_.fresh_unit()) {
      case FreshUnit::kPage: return NewNode(false);
      case FreshUnit::kTwoPages: return NodeOf(Bundle::kFresh, page / 2, false);
      case FreshUnit::kCall: return NodeOf(Bundle::kFresh, 0, false);
    }
  }
  if (model_.overwrite() == Overwrite::kCall) return NodeOf(Bundle::kOverwrite, 0, false);
  return NewNode(false);
}

std::uint32_t WindowBuilder::StaleNode(std::uint32_t index, Ino ino, std::uint64_t begin,
                                       std::uint64_t end) {
  const std::uint32_t node = NewNode(false);
  AddPart(node, {index, begin, end, PartKind::kStale, ino});
  return node;
}

std::uint64_t WindowBuilder::TailEnd() const {
  const bool tail = std::ranges::any_of(
      op_.pieces, [](const Piece& piece) { return piece.block == Block::kTail; });
  return tail ? RoundUp(op_.size_before, kPageBytes) : 0;
}

void WindowBuilder::PlaceWrittenSize(std::uint32_t index, std::uint64_t before) {
  const std::uint64_t value = window_.effects()[index].value;
  const SizeSteps steps = model_.size_steps();
  if (steps == SizeSteps::kCall) return PlaceSizeStep(index, 0, value);
  if (steps == SizeSteps::kTail) {
    const std::uint64_t tail_end = TailEnd();
    if (before < tail_end) PlaceSizeStep(index, 0, std::min(value, tail_end));
    if (value > tail_end) PlaceSizeStep(index, 1, value);
    return;
  }
  const std::uint64_t step = steps == SizeSteps::kPage ? kPageBytes : 2 * kPageBytes;
  // Where a write begins far behind the end, only what it wrote comes in steps.
  std::uint64_t from = value;
  for (const Piece& piece : op_.pieces) from = std::min(from, piece.begin);
  for (std::uint64_t at = (std::max(before, from) / step + 1) * step; at < value; at += step) {
    PlaceSizeStep(index, at, at);
  }
  PlaceSizeStep(index, RoundUp(value, step), value);
}

// `step` names the step among those of the op; UINT64_MAX: the effect is a step by itself.
void WindowBuilder::PlaceSizeStep(std::uint32_t index, std::uint64_t step, std::uint64_t value) {
  const Effect& effect = window_.effects()[index];
  const bool alone = step == UINT64_MAX;
  const bool chained = Ordered(index);
  const std::uint32_t node = alone                      ? NodeFor(index)
                             : model_.data_in_journal() ? NodeOf(Bundle::kCall, 0, chained)
                                                        : NodeOf(Bundle::kSize, step, chained);
  if (alone) {
    AddPart(node, {index, 0, 0});
  } else {
    AddPart(node, {index, 0, value, PartKind::kSizeStep});
  }
  const auto [last, is_first] = values_.try_emplace({effect.ino, CellKind::kSize}, node);
  if (!is_first) Require(node, std::exchange(last->second, node));
  const SizeAfter after = model_.size_after();
  const bool beyond_tail = value > RoundUp(op_.size_before, kPageBytes);
  for (const Piece& piece : op_.pieces) {
    if (piece.ino != effect.ino || piece.begin >= value || piece.block == Block::kInside) continue;
    const bool waits =
        piece.block == Block::kFresh
            ? after == SizeAfter::kFresh || after == SizeAfter::kTailAndFresh ||
                  after == SizeAfter::kData
            : after == SizeAfter::kData ||
                  (beyond_tail && (after == SizeAfter::kTail || after == SizeAfter::kTailAndFresh));
    if (waits) Require(node, piece.node);
  }
}

}  // namespace tornfs
