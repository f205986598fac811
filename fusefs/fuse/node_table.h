// NodeTable: node ids, and what the kernel holds of the current epoch: looked-up inodes and open
// handles. Keeps the engine's pins.
//
// Threads: the loop's.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "fusefs/core/engine.h"
#include "fusefs/core/types.h"
#include "fusefs/fuse/lowlevel.h"

namespace tornfs {

class NodeTable {
 public:
  static constexpr int kInoBits = 40;
  // The special files; the engine does not know them.
  static constexpr Ino kStdoutIno = (1ULL << kInoBits) - 1;
  static constexpr Ino kPromisesIno = (1ULL << kInoBits) - 2;
  [[nodiscard]] static bool IsSpecial(Ino ino) { return ino >= kPromisesIno; }

  explicit NodeTable(Engine& engine) : engine_(engine) {}

  [[nodiscard]] std::uint64_t epoch() const { return epoch_; }
  [[nodiscard]] fuse_ino_t NodeOf(Ino ino) const {
    return ino == kRootIno ? FUSE_ROOT_ID : epoch_ << kInoBits | ino;
  }
  // False for nodes of earlier epochs.
  [[nodiscard]] bool Lives(fuse_ino_t node) const {
    return node == FUSE_ROOT_ID || node >> kInoBits == epoch_;
  }
  // Requires that the node lives.
  [[nodiscard]] static Ino InoOf(fuse_ino_t node) { return node & ((1ULL << kInoBits) - 1); }

  // The kernel got, or gave back, `count` references by name.
  void Remember(Ino ino, std::uint64_t count = 1);
  void Forget(Ino ino, std::uint64_t count);
  // A handle was opened or released.
  void Open(Ino ino, int flags);
  void Close(Ino ino, int flags);
  // Whether some handle could have been mapped shared and writable. A handle is released when the
  // last such mapping is gone.
  [[nodiscard]] bool MayBeMapped(Ino ino) const;

  // What the kernel still holds of an epoch that ended.
  struct Dead {
    fuse_ino_t node;
    bool open;  // Pages may be cached, locked or dirty.
  };
  // Starts the next epoch; the engine has dropped its pins by itself.
  [[nodiscard]] std::vector<Dead> BeginEpoch();

 private:
  struct Held {
    std::uint64_t lookups = 0;
    std::uint64_t handles = 0;
    std::uint64_t read_write = 0;  // Of the handles.
  };
  void Release(std::unordered_map<Ino, Held>::iterator held);

  Engine& engine_;
  std::uint64_t epoch_ = 1;
  std::unordered_map<Ino, Held> held_;
};

}  // namespace tornfs
