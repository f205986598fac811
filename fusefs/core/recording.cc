#include "fusefs/core/recording.h"

#include <algorithm>
#include <set>
#include <utility>

#include "common/check.h"

namespace tornfs {

OpNumber Recording::end() const { return ops.empty() ? start.next_op : ops.back().number + 1; }

const Op& Recording::At(OpNumber number) const {
  CHECK(number >= start.next_op && number - start.next_op < ops.size());
  return ops[number - start.next_op];
}

Base Recording::BaseAt(OpNumber cut) const {
  CHECK(cut >= start.next_op && cut <= end());
  Base base;
  base.next_op = cut;
  base.time = cut == start.next_op ? start.time : At(cut - 1).time;
  base.next_ino = start.next_ino;
  OpNumber from = start.next_op;
  base.durable = start.durable;
  const auto after = std::upper_bound(durable.begin(), durable.end(), cut,
                                      [](OpNumber at, const DurableAt& d) { return at < d.cut; });
  if (after != durable.begin()) {
    base.durable = std::prev(after)->tree;
    from = std::prev(after)->cut;
  }
  for (const Birth& birth : births) {
    if (birth.op >= cut) break;
    base.next_ino = std::max(base.next_ino, birth.ino + 1);
    if (birth.op >= from) base.durable.Add(birth.ino, birth.initial);
  }
  SetLog(base, cut);
  for (std::size_t i = 0; i < effects.size(); ++i) {
    if (effects[i].op >= cut) break;
    if (durable_by[i] >= cut) {
      base.pending.push_back(effects[i]);
    } else if (durable_by[i] >= from && base.durable.Find(effects[i].ino) != nullptr) {
      Apply(effects[i], base.durable);
    }
  }
  return base;
}

void Recording::SetLog(Base& base, OpNumber cut) const {
  base.first_new = start.first_new;
  std::set<Ino> logged(start.logged.begin(), start.logged.end());
  for (const Op& op : ops) {
    if (op.number >= cut) break;
    if (op.kind == OpKind::kFsync || op.kind == OpKind::kFdatasync) logged.insert(op.ino);
    if (op.kind != OpKind::kSyncfs) continue;
    logged.clear();
    base.first_new = start.next_ino;
    for (const Birth& birth : births) {
      if (birth.op < op.number) base.first_new = std::max(base.first_new, birth.ino + 1);
    }
  }
  base.logged.assign(logged.begin(), logged.end());
}

Base Recording::AfterPowerLoss(Tree state) const {
  Base base;
  base.durable = std::move(state);
  base.next_op = end();
  base.next_ino = next_ino;
  base.time = ops.empty() ? start.time : ops.back().time;
  return base;
}

std::size_t Recording::PromisesBefore(OpNumber cut) const {
  const auto after = std::upper_bound(promises.begin(), promises.end(), cut,
                                      [](OpNumber at, const Promise& p) { return at < p.cut; });
  return static_cast<std::size_t>(after - promises.begin());
}

Digest Recording::Name(const ContentStore& store) const {
  Digest name = start.durable.VisibleDigest(store);
  for (const Effect& effect : effects) {
    const std::string text = effect.name ? *effect.name : std::string();
    name = Mix(name, Hash128(text, (static_cast<std::uint64_t>(effect.op) << 8) |
                                       static_cast<std::uint64_t>(effect.kind)));
    name = Mix(Mix(Mix(name, effect.ino), effect.offset), effect.value ^ effect.child);
    if (effect.kind == CellKind::kData && effect.content != kZeros) {
      name = Mix(name, Hash128(std::span(store.At(effect.content), effect.length)));
    }
  }
  for (const Op& op : ops) {
    if (IsBarrier(op.kind)) name = Mix(Mix(name, op.number), op.ino);
  }
  for (const Promise& promise : promises) name = Mix(name, Hash128(promise.line, promise.cut));
  return name;
}

}  // namespace tornfs
