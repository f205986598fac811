// SharedState: the few words that the workers of an exploration share: which situations are known
// to be good, which unit is next, how far everything is, and whether to stop.
//
// Lives in anonymous shared memory, made before the workers are forked. Lock-free: every word is an
// atomic of its own, and losing a race costs a repeated run, never a wrong answer.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "common/hash.h"

namespace tornfs::harness {

// Adds to a counter that stops at the largest number.
inline void AddSaturated(std::atomic<std::uint64_t>& counter, std::uint64_t by) {
  std::uint64_t old = counter.load();
  while (!counter.compare_exchange_weak(old, by > UINT64_MAX - old ? UINT64_MAX : old + by)) {
  }
}

class SharedState {
 public:
  // Counters of the whole exploration, for progress and for the final report.
  struct Counters {
    std::atomic<std::uint64_t> tried{0};   // Situations taken up, for progress.
    std::atomic<std::uint64_t> states{0};  // Crash states reached; see explorer.h.
    std::atomic<std::uint64_t> known{0};   // Of them, settled by an equal one before.
    std::atomic<std::uint64_t> runs{0};    // Processes started.
    std::atomic<std::uint64_t> violations{0};
    std::atomic<std::uint64_t> units{0};    // Crash points done.
    std::atomic<std::uint64_t> windows{0};  // Windows looked at, at any depth.
    std::atomic<std::uint64_t> whole{0};    // Of them, tried completely.
    std::atomic<std::uint64_t> cannot_judge{0};
    std::atomic<std::uint64_t> stragglers{0};
    // Of lazy exploration alone.
    std::atomic<std::uint64_t> leaves{0};       // Groups of states that were judged together.
    std::atomic<std::uint64_t> shared{0};       // Ends of programs that were known without a run.
    std::atomic<std::uint64_t> audited{0};      // Of them, run all the same.
    std::atomic<std::uint64_t> overdecided{0};  // Distinctions that no program asked for.
    std::atomic<std::uint64_t> concurrent{0};   // 1: more than one thread asked in a run.
    std::atomic<std::uint64_t> left_outside{0};
  };

  [[nodiscard]] static std::unique_ptr<SharedState> Create();
  ~SharedState();
  SharedState(const SharedState&) = delete;
  SharedState& operator=(const SharedState&) = delete;

  // Whether `key` was marked good. Never true for a key that was not.
  [[nodiscard]] bool IsGood(const Digest& key) const;
  // Returns whether it was not marked before: true for one caller only, unless the table is full
  // around it.
  bool MarkGood(const Digest& key);
  // Distinct keys marked so far.
  [[nodiscard]] std::uint64_t good() const { return block_->good.load(); }

  // The next unit of work, each handed out once.
  [[nodiscard]] std::uint64_t TakeUnit() { return block_->next_unit++; }

  [[nodiscard]] Counters& counters() { return block_->counters; }
  void Stop() { block_->stop = true; }
  [[nodiscard]] bool stopped() const { return block_->stop.load(); }

 private:
  static constexpr std::size_t kSlots = 1U << 22;  // 64 MiB of address space, touched as used.
  struct Slot {
    std::atomic<std::uint64_t> low;
    std::atomic<std::uint64_t> high;
  };
  struct Block {
    std::atomic<std::uint64_t> next_unit{0};
    std::atomic<std::uint64_t> good{0};
    std::atomic<bool> stop{false};
    Counters counters;
    Slot slots[kSlots];
  };
  explicit SharedState(Block* block) : block_(block) {}
  [[nodiscard]] static std::uint64_t HighWord(const Slot& slot);

  Block* block_;
};

}  // namespace tornfs::harness
