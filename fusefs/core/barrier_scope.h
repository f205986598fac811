// BarrierScope: what a barrier makes durable in filesystems that sync more than the one file: its
// names, or the journal.
//
// Three things are put together: what the rules `fsync` and `fdatasync` name; what those effects
// require by the model's other rules, so that what is durable is closed under "requires"; and,
// where a log is replayed over the last commit (FsyncScope::kLastName), older versions of the names
// taken, which the log overrides without their other halves.
#pragma once

#include <cstdint>
#include <vector>

#include "fusefs/core/effect.h"
#include "fusefs/core/model.h"
#include "fusefs/core/tree.h"

namespace tornfs {

class BarrierScope {
 public:
  // `effects` are all that are pending on `durable`, in the order made; `barrier` is no syncfs.
  // Cost: that of a window of `effects`, unless all are taken anyway.
  BarrierScope(const Model& model, OpKind barrier, Ino ino, const Tree& durable,
               const ContentStore& store, std::vector<Effect> effects);

  // Rising.
  [[nodiscard]] std::vector<std::uint32_t> Indexes() const;

 private:
  void TakeOwn(OpKind barrier, Ino ino);
  void TakeNames(Ino ino, bool removals);
  void TakeAbove(Ino dir);
  void TakeOlderVersions();
  void TakeJournal();
  bool TakeOtherHalves();
  void TakeRequired(const ContentStore& store);
  [[nodiscard]] bool StandsAlone(const Effect& half, const Effect& other) const;
  [[nodiscard]] bool HasDurableName(Ino ino) const;
  // What name `effects_[index]` of its directory led to before.
  [[nodiscard]] Ino Before(std::uint32_t index) const;
  void Take(std::uint32_t index);

  const Model& model_;
  const Tree& durable_;
  std::vector<Effect> effects_;
  std::vector<bool> taken_;
  std::size_t count_ = 0;
};

}  // namespace tornfs
