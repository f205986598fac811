#include "fusefs/core/barrier_scope.h"

#include <utility>

#include "fusefs/core/journal_order.h"
#include "fusefs/core/window.h"

namespace tornfs {

BarrierScope::BarrierScope(const Model& model, OpKind barrier, Ino ino, const Tree& durable,
                           const ContentStore& store, std::vector<Effect> effects)
    : model_(model),
      durable_(durable),
      effects_(std::move(effects)),
      taken_(effects_.size(), false) {
  const FdatasyncScope scope = model_.fdatasync();
  const bool data_only = barrier == OpKind::kFdatasync && scope != FdatasyncScope::kAsFsync;
  TakeOwn(barrier, ino);
  if (data_only) {
    if (scope == FdatasyncScope::kDataAndNewName && !HasDurableName(ino)) TakeNames(ino, false);
  } else if (model_.fsync() == FsyncScope::kJournal) {
    TakeJournal();
  } else {
    TakeNames(ino, model_.fsync() == FsyncScope::kNames);
  }
  TakeOtherHalves();
  do {
    if (count_ < effects_.size()) TakeRequired(store);
  } while (TakeOtherHalves());
  if (model_.fsync() == FsyncScope::kLastName) TakeOlderVersions();
}

std::vector<std::uint32_t> BarrierScope::Indexes() const {
  std::vector<std::uint32_t> indexes;
  for (std::uint32_t i = 0; i < taken_.size(); ++i) {
    if (taken_[i]) indexes.push_back(i);
  }
  return indexes;
}

void BarrierScope::Take(std::uint32_t index) {
  if (taken_[index]) return;
  taken_[index] = true;
  ++count_;
}

void BarrierScope::TakeOwn(OpKind barrier, Ino ino) {
  for (std::uint32_t i = 0; i < effects_.size(); ++i) {
    if (effects_[i].ino == ino && model_.Covers(barrier, effects_[i])) Take(i);
  }
}

void BarrierScope::TakeJournal() {
  for (std::uint32_t i = 0; i < effects_.size(); ++i) {
    if (IsJournalled(model_, effects_, i)) Take(i);
  }
}

Ino BarrierScope::Before(std::uint32_t index) const {
  const Effect& effect = effects_[index];
  for (std::uint32_t i = index; i-- > 0;) {
    const Effect& earlier = effects_[i];
    if (earlier.kind == CellKind::kEntry && earlier.ino == effect.ino &&
        *earlier.name == *effect.name) {
      return earlier.child;
    }
  }
  const Entry* entry = durable_.FindEntry(effect.ino, *effect.name);
  return entry == nullptr ? kNoIno : entry->ino;
}

bool BarrierScope::HasDurableName(Ino ino) const {
  const Inode* inode = durable_.Find(ino);
  return inode != nullptr && inode->links > 0;
}

// The names of `ino`: every one, and with `removals` those it lost; or the last; or, where the
// journal has them in order, the first.
void BarrierScope::TakeNames(Ino ino, bool removals) {
  if (model_.fsync() == FsyncScope::kJournal) {
    for (std::uint32_t i = 0; i < effects_.size(); ++i) {
      if (effects_[i].kind == CellKind::kEntry && effects_[i].child == ino) return Take(i);
    }
    return;
  }
  const bool last_only = model_.fsync() == FsyncScope::kLastName;
  for (std::uint32_t i = static_cast<std::uint32_t>(effects_.size()); i-- > 0;) {
    const Effect& effect = effects_[i];
    if (effect.kind != CellKind::kEntry) continue;
    const bool gives = effect.child == ino;
    if (!gives && !(removals && effect.child == kNoIno && Before(i) == ino)) continue;
    Take(i);
    TakeAbove(effect.ino);
    if (gives && last_only) break;
  }
}

// The name of `dir` if it has none that is durable, and those of the directories it lies in.
void BarrierScope::TakeAbove(Ino dir) {
  if (HasDurableName(dir)) return;
  for (std::uint32_t i = static_cast<std::uint32_t>(effects_.size()); i-- > 0;) {
    if (effects_[i].kind != CellKind::kEntry || effects_[i].child != dir || taken_[i]) continue;
    Take(i);
    TakeAbove(effects_[i].ino);
    break;
  }
}

void BarrierScope::TakeRequired(const ContentStore& store) {
  const bool journal = model_.fsync() == FsyncScope::kJournal;
  // A log has what is synced without what came before, so only rules about content tie.
  Model rules = model_;
  const auto set = [&rules](Rule rule, auto answer) {
    rules.rules[static_cast<std::size_t>(rule)].answer = static_cast<std::uint8_t>(answer);
  };
  if (!journal) set(Rule::kOrder, Order::kNone);
  // Halves of renames are tied by TakeOtherHalves.
  if (model_.cross_rename() == CrossRename::kNewName) set(Rule::kRename, Splitting::kSplit);
  set(Rule::kLostReplacement, LostReplacement::kNo);
  set(Rule::kReuse, Reuse::kAfterCommit);
  set(Rule::kFresh, Fresh::kZeroed);
  Base base;
  base.durable = durable_;
  base.pending = effects_;
  const Window window(std::move(base), rules, Tear::kPage, store);
  Choice choice = window.None();
  for (std::uint32_t node = 0; node < window.nodes().size(); ++node) {
    for (const Part& part : window.nodes()[node].parts) {
      if (taken_[part.effect]) choice.kept[node] = true;
    }
  }
  window.CloseDown(choice);
  const bool content_only = model_.fsync() == FsyncScope::kLastName;
  for (std::uint32_t node = 0; node < window.nodes().size(); ++node) {
    if (!choice.kept[node]) continue;
    for (const Part& part : window.nodes()[node].parts) {
      const CellKind kind = effects_[part.effect].kind;
      if (content_only && kind != CellKind::kData && kind != CellKind::kSize) continue;
      Take(part.effect);
    }
  }
}

// Whether `half`, which was taken, is all that the model asks for of a rename.
bool BarrierScope::StandsAlone(const Effect& half, const Effect& other) const {
  if (model_.cross_rename() != CrossRename::kNewName || half.ino == other.ino) return false;
  const Inode* moved = durable_.Find(half.child);
  return other.child == kNoIno && moved != nullptr && !moved->IsDirectory();
}

// Returns whether there were any.
bool BarrierScope::TakeOtherHalves() {
  if (!model_.Whole(GroupTag::kRename)) return false;
  const std::size_t before = count_;
  for (std::uint32_t i = 1; i < effects_.size(); ++i) {
    const bool halves = effects_[i].op == effects_[i - 1].op &&
                        effects_[i].group == GroupTag::kRename &&
                        effects_[i - 1].group == GroupTag::kRename;
    if (!halves || taken_[i] == taken_[i - 1]) continue;
    const std::uint32_t taken = taken_[i] ? i : i - 1;
    const std::uint32_t other = taken_[i] ? i - 1 : i;
    if (!StandsAlone(effects_[taken], effects_[other])) Take(other);
  }
  return count_ > before;
}

void BarrierScope::TakeOlderVersions() {
  for (std::uint32_t i = 0; i < effects_.size(); ++i) {
    if (!taken_[i] || effects_[i].kind != CellKind::kEntry) continue;
    for (std::uint32_t older = 0; older < i; ++older) {
      if (effects_[older].kind == CellKind::kEntry && effects_[older].ino == effects_[i].ino &&
          *effects_[older].name == *effects_[i].name) {
        Take(older);
      }
    }
  }
}

}  // namespace tornfs
