#include "fusefs/core/pending.h"

#include <algorithm>
#include <utility>

#include "fusefs/core/barrier_scope.h"

namespace tornfs {

void Pending::Add(Effect effect, std::uint32_t tag) {
  const auto index = static_cast<std::uint32_t>(slots_.size());
  by_ino_[effect.ino].push_back(index);
  if (effect.child != kNoIno) ++children_[effect.child];
  slots_.push_back({{std::move(effect), tag}, true});
  ++live_;
}

std::vector<Pending::Item> Pending::TakeDurable(const Model& model, OpKind barrier, Ino ino,
                                                const Tree& durable, const ContentStore& store) {
  std::vector<std::uint32_t> wanted;
  if (model.order() == Order::kCalls || barrier == OpKind::kSyncfs) {
    for (std::uint32_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i].live) wanted.push_back(i);
    }
    return Take(std::move(wanted));
  }
  if (model.fsync() != FsyncScope::kSelf) {
    std::vector<std::uint32_t> live;
    for (std::uint32_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i].live) live.push_back(i);
    }
    const BarrierScope scope(model, barrier, ino, durable, store, Effects());
    for (const std::uint32_t i : scope.Indexes()) wanted.push_back(live[i]);
    return Take(std::move(wanted));
  }
  const auto own = by_ino_.find(ino);
  if (own == by_ino_.end()) return {};
  for (const std::uint32_t i : own->second) {
    if (model.Covers(barrier, slots_[i].item.effect)) wanted.push_back(i);
  }
  if (model.Whole(GroupTag::kRename) && barrier == OpKind::kFsyncdir) AddTiedEntries(ino, wanted);
  return Take(std::move(wanted));
}

// A rename that is never split ties an entry of this directory to one of another, which must then
// be as new as that: with every earlier version of it, and whatever those are tied to.
void Pending::AddTiedEntries(Ino ino, std::vector<std::uint32_t>& wanted) const {
  std::vector<bool> in(slots_.size(), false);
  for (const std::uint32_t i : wanted) in[i] = true;
  const auto want = [&](std::uint32_t i) {
    if (in[i] || !slots_[i].live) return;
    in[i] = true;
    wanted.push_back(i);
  };
  for (std::size_t next = 0; next < wanted.size(); ++next) {
    const std::uint32_t index = wanted[next];
    const Effect& effect = slots_[index].item.effect;
    if (effect.kind != CellKind::kEntry) continue;
    for (const std::uint32_t other : by_ino_.at(effect.ino)) {
      if (other >= index || effect.ino == ino) break;
      const Effect& earlier = slots_[other].item.effect;
      if (earlier.kind == CellKind::kEntry && *earlier.name == *effect.name) want(other);
    }
    if (effect.group != GroupTag::kRename) continue;
    const auto same_op = [&](std::uint32_t i) { return slots_[i].item.effect.op == effect.op; };
    for (std::uint32_t i = index; i-- > 0 && same_op(i);) want(i);
    for (std::uint32_t i = index + 1; i < slots_.size() && same_op(i); ++i) want(i);
  }
}

std::vector<Pending::Item> Pending::TakeData(Ino ino, std::uint64_t begin, std::uint64_t end) {
  const auto own = by_ino_.find(ino);
  if (own == by_ino_.end()) return {};
  std::vector<std::uint32_t> wanted;
  for (const std::uint32_t i : own->second) {
    const Effect& effect = slots_[i].item.effect;
    if (effect.kind == CellKind::kData && effect.offset < end &&
        effect.offset + effect.length > begin) {
      wanted.push_back(i);
    }
  }
  return Take(std::move(wanted));
}

std::vector<Pending::Item> Pending::TakeContents(Ino ino, bool size_too) {
  const auto own = by_ino_.find(ino);
  if (own == by_ino_.end()) return {};
  std::vector<std::uint32_t> wanted;
  for (const std::uint32_t i : own->second) {
    const CellKind kind = slots_[i].item.effect.kind;
    if (kind == CellKind::kData || (size_too && kind == CellKind::kSize)) wanted.push_back(i);
  }
  return Take(std::move(wanted));
}

std::vector<Pending::Item> Pending::TakeAll(Ino ino) {
  const auto own = by_ino_.find(ino);
  return own == by_ino_.end() ? std::vector<Item>() : Take(own->second);
}

std::vector<Pending::Item> Pending::TakeOldest(std::size_t count) {
  std::vector<std::uint32_t> wanted;
  OpNumber last = 0;
  for (std::uint32_t i = 0; i < slots_.size(); ++i) {
    if (!slots_[i].live) continue;
    const OpNumber op = slots_[i].item.effect.op;
    if (wanted.size() >= count && op != last) break;
    last = op;
    wanted.push_back(i);
  }
  return Take(std::move(wanted));
}

bool Pending::TiesElsewhere(Ino dir) const {
  const auto own = by_ino_.find(dir);
  if (own == by_ino_.end()) return false;
  return std::ranges::any_of(own->second, [&](std::uint32_t index) {
    const Effect& effect = slots_[index].item.effect;
    if (effect.group != GroupTag::kRename) return false;
    const auto other_half = [&](std::uint32_t i) {
      const Effect& other = slots_[i].item.effect;
      return slots_[i].live && other.op == effect.op && other.ino != dir;
    };
    const bool before = index > 0 && other_half(index - 1);
    return before || (index + 1 < slots_.size() && other_half(index + 1));
  });
}

std::vector<Pending::Item> Pending::Take(std::vector<std::uint32_t> indexes) {
  std::sort(indexes.begin(), indexes.end());
  std::vector<Item> items;
  items.reserve(indexes.size());
  for (const std::uint32_t i : indexes) {
    slots_[i].live = false;
    items.push_back(std::move(slots_[i].item));
    const Ino child = items.back().effect.child;
    if (child != kNoIno && --children_[child] == 0) children_.erase(child);
  }
  live_ -= indexes.size();
  std::vector<Ino> inos;
  for (const Item& item : items) inos.push_back(item.effect.ino);
  std::sort(inos.begin(), inos.end());
  inos.erase(std::unique(inos.begin(), inos.end()), inos.end());
  for (const Ino ino : inos) {
    const auto own = by_ino_.find(ino);
    std::erase_if(own->second, [&](std::uint32_t i) { return !slots_[i].live; });
    if (own->second.empty()) by_ino_.erase(own);
  }
  if (live_ == 0 || (slots_.size() > 64 && live_ < slots_.size() / 2)) Compact();
  return items;
}

void Pending::Compact() {
  std::vector<Slot> old = std::move(slots_);
  Clear();
  for (Slot& slot : old) {
    if (slot.live) Add(std::move(slot.item.effect), slot.item.tag);
  }
}

std::vector<Effect> Pending::Effects() const {
  std::vector<Effect> effects;
  effects.reserve(live_);
  for (const Slot& slot : slots_) {
    if (slot.live) effects.push_back(slot.item.effect);
  }
  return effects;
}

std::uint64_t Pending::DataBytes() const {
  std::uint64_t bytes = 0;
  for (const Slot& slot : slots_) {
    if (slot.live && slot.item.effect.content != kZeros) bytes += slot.item.effect.length;
  }
  return bytes;
}

void Pending::Clear() {
  slots_.clear();
  by_ino_.clear();
  children_.clear();
  live_ = 0;
}

}  // namespace tornfs
