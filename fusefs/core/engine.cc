#include "fusefs/core/engine.h"

#include <algorithm>
#include <utility>

namespace tornfs {

Engine::Engine(ContentStore& store, const Model& model, Clock clock)
    : store_(&store), model_(&model), clock_(std::move(clock)) {
  Base base;
  base.durable = Tree::Empty(0, 0, clock_());
  Load(std::move(base), false);
}

void Engine::Load(Base base, bool record) {
  pins_.clear();
  thawed_.clear();
  pending_.Clear();
  recording_.reset();
  next_op_ = base.next_op;
  next_ino_ = base.next_ino;
  last_time_ = base.time;
  if (base.first_new == kNoIno) base.first_new = base.next_ino;
  first_new_ = base.first_new;
  logged_ = {base.logged.begin(), base.logged.end()};
  durable_ = base.durable;
  current_ = durable_;
  settled_ = 0;
  garbage_ = true;
  if (record) {
    recording_ = std::make_unique<Recording>();
    recording_->effects = base.pending;
    recording_->durable_by.assign(base.pending.size(), kNever);
    recording_->next_ino = base.next_ino;
  }
  for (std::size_t i = 0; i < base.pending.size(); ++i) {
    Apply(base.pending[i], current_);
    pending_.Add(base.pending[i], static_cast<std::uint32_t>(i));
  }
  if (record) recording_->start = std::move(base);
}

Base Engine::Snapshot() const {
  return {durable_,
          pending_.Effects(),
          next_op_,
          next_ino_,
          last_time_,
          first_new_,
          {logged_.begin(), logged_.end()}};
}

std::unique_ptr<Recording> Engine::TakeRecording() {
  if (recording_) recording_->next_ino = next_ino_;
  return std::move(recording_);
}

void Engine::AddPromise(std::string line) {
  if (recording_) recording_->promises.push_back({next_op_, std::move(line)});
}

void Engine::SettleAll() { CarryOut(OpKind::kSyncfs, kRootIno, next_op_ - 1); }

void Engine::CarryOut(OpKind kind, Ino ino, OpNumber by) {
  Settle(pending_.TakeDurable(*model_, kind, ino, durable_, *store_), by);
  if (kind == OpKind::kSyncfs) {
    first_new_ = next_ino_;
    logged_.clear();
  } else if (kind != OpKind::kFsyncdir) {
    logged_.insert(ino);
  }
}

Engine::Change Engine::Begin(OpKind kind, const Caller& caller, Ino ino) {
  last_time_ = std::max(last_time_ + 1, clock_());
  Change change;
  change.op.kind = kind;
  change.op.number = next_op_;
  change.op.pid = caller.pid;
  change.op.ino = ino;
  change.op.time = last_time_;
  if (recording_) change.op.path = current_.PathOf(ino);
  return change;
}

void Engine::Make(Change& change, Effect effect) {
  effect.op = change.op.number;
  effect.time = change.op.time;
  Thaw(effect.ino);
  if (effect.kind == CellKind::kEntry && frozen_) {
    const Entry* before = current_.FindEntry(effect.ino, *effect.name);
    if (before != nullptr) Thaw(before->ino);
    if (effect.child != kNoIno) Thaw(effect.child);
  }
  Apply(effect, current_);
  change.effects.push_back(std::move(effect));
}

void Engine::MakeEntry(Change& change, Ino dir, std::string_view name, Ino child, GroupTag group) {
  Effect effect;
  effect.kind = CellKind::kEntry;
  effect.group = group;
  effect.ino = dir;
  effect.child = child;
  effect.name = std::make_shared<const std::string>(name);
  Make(change, std::move(effect));
}

void Engine::MakeData(Change& change, Ino ino, std::uint64_t offset, std::uint64_t length,
                      ContentPosition content, GroupTag group) {
  if (length == 0) return;
  Effect effect;
  effect.kind = CellKind::kData;
  effect.group = group;
  effect.ino = ino;
  effect.offset = offset;
  effect.length = length;
  effect.content = content;
  Make(change, std::move(effect));
}

void Engine::MakeSize(Change& change, Ino ino, std::uint64_t size, GroupTag group) {
  Effect effect;
  effect.kind = CellKind::kSize;
  effect.group = group;
  effect.ino = ino;
  effect.value = size;
  Make(change, std::move(effect));
}

void Engine::MakeValue(Change& change, CellKind kind, Ino ino, std::uint64_t value,
                       GroupTag group) {
  Effect effect;
  effect.kind = kind;
  effect.group = group;
  effect.ino = ino;
  effect.value = value;
  Make(change, std::move(effect));
}

void Engine::MakeXattr(Change& change, Ino ino, std::string_view name,
                       std::optional<std::string_view> value, GroupTag group) {
  Effect effect;
  effect.kind = CellKind::kXattr;
  effect.group = group;
  effect.ino = ino;
  effect.name = std::make_shared<const std::string>(XattrChange::Pack(name, value));
  Make(change, std::move(effect));
}

void Engine::Commit(Change change, bool joins) {
  if (!joins) ++next_op_;
  std::uint32_t tag = 0;
  if (recording_) {
    Recording& recording = *recording_;
    tag = static_cast<std::uint32_t>(recording.effects.size());
    if (joins) {
      recording.ops.back().length += change.op.length;
    } else {
      change.op.first_effect = tag;
      recording.ops.push_back(change.op);
    }
    recording.ops.back().effects += static_cast<std::uint32_t>(change.effects.size());
    recording.effects.insert(recording.effects.end(), change.effects.begin(), change.effects.end());
    recording.durable_by.resize(recording.effects.size(), kNever);
  }
  // A group that the model keeps whole is durable at once if any of it is.
  const auto at_once = [&](const Effect& effect) {
    if (model_->AtOnce(effect.kind)) return true;
    return model_->Whole(effect.group) &&
           std::ranges::any_of(change.effects, [&](const Effect& other) {
             return other.group == effect.group && model_->AtOnce(other.kind);
           });
  };
  std::vector<Pending::Item> settled;
  for (Effect& effect : change.effects) {
    if (!at_once(effect)) {
      pending_.Add(std::move(effect), tag++);
      continue;
    }
    if (effect.kind == CellKind::kData) {
      const std::uint64_t end = effect.offset + effect.length;
      auto before = pending_.TakeData(effect.ino, effect.offset, end);
      std::ranges::move(before, std::back_inserter(settled));
    }
    settled.push_back({effect, tag++});
  }
  Settle(settled, change.op.number);
  if (pending_.size() > most_pending_ && !recording_) WriteBackOldest();
}

void Engine::Settle(const std::vector<Pending::Item>& items, OpNumber by) {
  if (items.empty()) return;
  garbage_ = true;
  std::vector<Ino> unnamed;
  for (const Pending::Item& item : items) {
    if (recording_) recording_->durable_by[item.tag] = by;
    const Effect& effect = item.effect;
    if (durable_.Find(effect.ino) == nullptr) continue;
    if (effect.kind == CellKind::kEntry) {
      const Entry* before = durable_.FindEntry(effect.ino, *effect.name);
      if (before != nullptr) unnamed.push_back(before->ino);
    }
    Apply(effect, durable_);
  }
  // Only now: a later item may have given an inode its next name.
  for (const Ino ino : unnamed) Collect(ino, by);
  // A snapshot makes the next change of the durable tree copy its path, so not every barrier has
  // one.
  if (!recording_) return;
  auto& snapshots = recording_->durable;
  if (!snapshots.empty() && snapshots.back().cut == by + 1) {
    snapshots.back().tree = durable_;  // A part of a write was joined to the op.
  } else if (settled_++ % Recording::kSnapshotEvery == 0) {
    snapshots.push_back({by + 1, durable_});
  }
}

void Engine::Collect(Ino ino, OpNumber by) {
  if (ino == kRootIno) return;
  const Inode* current = current_.Find(ino);
  if (current != nullptr && current->links == 0 && !pins_.contains(ino)) {
    current_.Remove(ino);
    current = nullptr;
    garbage_ = true;
  }
  const Inode* durable = durable_.Find(ino);
  if (current != nullptr || durable == nullptr) return;
  if (durable->links > 0 || pending_.LeadsTo(ino)) return;
  // Its entries may be halves of renames: they tie the other halves, in directories that live on.
  if (durable->IsDirectory() && pending_.TiesElsewhere(ino)) return;
  DropDurable(ino, by);
}

// What a directory that is gone in every state led to, or could have led to, goes with it.
void Engine::DropDurable(Ino ino, OpNumber by) {
  std::vector<Ino> below;
  for (const Pending::Item& item : pending_.TakeAll(ino)) {
    if (recording_) recording_->durable_by[item.tag] = by;
    if (item.effect.child != kNoIno) below.push_back(item.effect.child);
  }
  const PersistentMap<EntryKey, Entry> entries = durable_.Find(ino)->entries;
  for (auto entry = entries.Begin(); entry.valid(); entry.Next()) {
    below.push_back(durable_.SetEntry(ino, entry.key().name, kNoIno));
  }
  durable_.Remove(ino);
  for (const Ino child : below) Collect(child, by);
}

void Engine::Pin(Ino ino, std::uint64_t count) { pins_[ino] += count; }

void Engine::Unpin(Ino ino, std::uint64_t count) {
  const auto pin = pins_.find(ino);
  if (pin == pins_.end()) return;
  if (pin->second > count) {
    pin->second -= count;
    return;
  }
  pins_.erase(pin);
  Collect(ino, next_op_ - 1);
}

Window Engine::CrashWindow(Tear tear) const { return {Snapshot(), *model_, tear, *store_}; }

void Engine::PowerLoss(const Window& window, const Choice& choice) {
  Base base;
  base.durable = window.State(choice);
  base.durable.KeepReachable();
  base.next_op = next_op_;
  base.next_ino = next_ino_;
  base.time = last_time_;
  Load(std::move(base), false);
}

}  // namespace tornfs
