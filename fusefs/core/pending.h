// Pending: the effects that were performed and are not yet durable, indexed by what a barrier
// names.
//
// An fsync of a file must not cost more because other files have pending effects, nor because the
// file was large when it was last synced, so effects are found by inode and removed one by one.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "fusefs/core/effect.h"
#include "fusefs/core/model.h"

namespace tornfs {

class Pending {
 public:
  // Appends the newest effect. `tag` is the caller's name for it (an index into a recording).
  void Add(Effect effect, std::uint32_t tag);

  struct Item {
    Effect effect;
    std::uint32_t tag = 0;
  };

  // Removes and returns, in the order they were made, the effects that `barrier` on `ino` makes
  // durable under `model`: those it covers, and what order and groups tie to them. `durable` is
  // what the effects are pending on, with contents in `store`. Cost: for models with
  // FsyncScope::kSelf that of the effects taken, else that of all pending.
  [[nodiscard]] std::vector<Item> TakeDurable(const Model& model, OpKind barrier, Ino ino,
                                              const Tree& durable, const ContentStore& store);

  // Removes and returns the data effects on `ino` that overlap [begin, end), oldest first: what a
  // truncation that is durable at once leaves behind it.
  [[nodiscard]] std::vector<Item> TakeData(Ino ino, std::uint64_t begin, std::uint64_t end);

  // Removes and returns the data effects on `ino`, oldest first, and those on its size if asked.
  [[nodiscard]] std::vector<Item> TakeContents(Ino ino, bool size_too);

  // Removes and returns every effect on the contents or attributes of `ino`, oldest first.
  [[nodiscard]] std::vector<Item> TakeAll(Ino ino);

  // Removes and returns the effects of the oldest ops, about `count` of them and no op in part.
  [[nodiscard]] std::vector<Item> TakeOldest(std::size_t count);

  // Whether some pending entry of directory `dir` is half of a rename that has its other half in
  // another directory.
  [[nodiscard]] bool TiesElsewhere(Ino dir) const;

  // Calls visit(effect) for each, in the order they were made.
  template <class Visit>
  void ForEach(Visit&& visit) const {
    for (const Slot& slot : slots_) {
      if (slot.live) visit(slot.item.effect);
    }
  }

  // In the order they were made.
  [[nodiscard]] std::vector<Effect> Effects() const;
  [[nodiscard]] std::size_t size() const { return live_; }
  [[nodiscard]] bool empty() const { return live_ == 0; }
  // Bytes of file data pending.
  [[nodiscard]] std::uint64_t DataBytes() const;
  // True if some pending entry leads to `ino`.
  [[nodiscard]] bool LeadsTo(Ino ino) const { return children_.contains(ino); }
  void Clear();

 private:
  struct Slot {
    Item item;
    bool live = true;
  };
  // Removes the slots of that index; the result is in the order of the indexes.
  [[nodiscard]] std::vector<Item> Take(std::vector<std::uint32_t> indexes);
  // `ino` is the directory synced: all its entries are wanted already.
  void AddTiedEntries(Ino ino, std::vector<std::uint32_t>& wanted) const;
  void Compact();

  std::vector<Slot> slots_;
  std::size_t live_ = 0;
  std::unordered_map<Ino, std::vector<std::uint32_t>> by_ino_;  // Slots whose effect acts on ino.
  std::unordered_map<Ino, std::uint32_t> children_;             // Entries leading to ino.
};

}  // namespace tornfs
