// Recording: one stretch of history, from a start to the end of a program: the ops in the order
// served, the effects they made, when each effect became durable, and what was promised in between.
//
// A power loss at any cut of it, and a kill after any op, can be worked out from a Recording alone;
// nothing has to be run again.
//
// A cut c is a place in the history: ops numbered below c have been served, op c has not. What a
// barrier makes durable is durable at every cut above its number.
//
// Memory: see the sizes of Op and Effect; file contents are stored once, in the ContentStore.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fusefs/core/effect.h"
#include "fusefs/core/tree.h"
#include "fusefs/core/types.h"

namespace tornfs {

// One state-changing request that was served.
struct Op {
  OpNumber number = 0;
  OpKind kind = OpKind::kWrite;
  pid_t pid = 0;
  Ino ino = kNoIno;          // What it acted on; for a barrier, what was synced.
  std::uint64_t offset = 0;  // Writes, fallocate, truncate (the new size).
  std::uint64_t length = 0;
  std::uint32_t first_effect = 0;  // Its effects are [first_effect, first_effect + effects).
  std::uint32_t effects = 0;
  std::string path;  // As seen from the root of the mount.
  std::string to;    // rename, link: the new path. symlink: the target.
  Nanoseconds time = 0;
};

// A line of the program's standard output: something it told the outside world.
struct Promise {
  OpNumber cut = 0;  // Made after every op below `cut` and before op `cut`.
  std::string line;  // Without the newline.
};

// Where a recording starts, and what a crash leaves: a durable tree, and effects performed but not
// yet durable (none after a power loss; what was pending after a kill), in the order they were
// made.
struct Base {
  Tree durable;
  std::vector<Effect> pending;
  OpNumber next_op = 1;
  Ino next_ino = kRootIno + 1;
  Nanoseconds time = 0;  // Of the last op; the clock goes on from here.
  // Since everything was last made durable at once (a sync, the start): inodes from `first_new` on
  // are new, and those in `logged`, rising, were synced by themselves. What models with a log
  // beside their commits ask for. kNoIno stands for next_ino, where nothing is pending.
  Ino first_new = kNoIno;
  std::vector<Ino> logged = {};
};

struct Recording {
  Base start;
  std::vector<Op> ops;
  // The pending effects of `start`, then those of `ops`.
  std::vector<Effect> effects;
  // For each effect, the op that made it durable: its own number where the model does so at once,
  // kNever if none did.
  std::vector<OpNumber> durable_by;
  // Inodes that came into being: (op, ino), with their initial state. Rising.
  struct Birth {
    OpNumber op;
    Ino ino;
    Inode initial;
  };
  std::vector<Birth> births;
  std::vector<Promise> promises;  // `cut` never falls.
  // The durable tree at some of the cuts where it changed, rising: every kSnapshotEvery-th. What
  // lies between follows from `births`, `effects` and `durable_by`.
  static constexpr std::uint64_t kSnapshotEvery = 16;
  struct DurableAt {
    OpNumber cut;
    Tree tree;
  };
  std::vector<DurableAt> durable;
  Ino next_ino = kRootIno + 1;  // At the end.

  // The cut at the end: one more than the last op.
  [[nodiscard]] OpNumber end() const;
  // The op of that number. Requires that it is part of this recording.
  [[nodiscard]] const Op& At(OpNumber number) const;

  // The durable tree and the pending effects at `cut`, as a power loss there would find them.
  // Requires start.next_op <= cut <= end(). Cost: a glance at every effect before `cut`.
  [[nodiscard]] Base BaseAt(OpNumber cut) const;

  // `state`, left by a power loss anywhere in this recording, as a place to start from. Ops, inode
  // numbers and the clock go on from the end of the recording wherever it was cut, so that equal
  // states are equal places.
  [[nodiscard]] Base AfterPowerLoss(Tree state) const;

  // Promises made before op `cut` was served.
  [[nodiscard]] std::size_t PromisesBefore(OpNumber cut) const;

  // Fills in `first_new` and `logged` of the base at `cut`.
  void SetLog(Base& base, OpNumber cut) const;

  // A name for this history: equal for recordings of the same ops, effects and promises.
  [[nodiscard]] Digest Name(const ContentStore& store) const;
};

}  // namespace tornfs
