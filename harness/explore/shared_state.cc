#include "harness/explore/shared_state.h"

#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <new>

#include "common/check.h"

namespace tornfs::harness {

std::unique_ptr<SharedState> SharedState::Create() {
  void* memory = ::mmap(nullptr, sizeof(Block), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  CHECK(memory != MAP_FAILED);
  // The memory is zero already, which is what every member starts with; constructing the slots
  // would touch them all.
  return std::unique_ptr<SharedState>(new SharedState(static_cast<Block*>(memory)));
}

SharedState::~SharedState() { ::munmap(block_, sizeof(Block)); }

// A slot is taken by its low word and complete with its high word; a reader that comes in between
// sees no match. Zero means empty, so a zero half is stored as one.
bool SharedState::IsGood(const Digest& key) const {
  const std::uint64_t low = std::max<std::uint64_t>(key.low, 1);
  const std::uint64_t high = std::max<std::uint64_t>(key.high, 1);
  for (std::size_t i = 0; i < 64; ++i) {
    const Slot& slot = block_->slots[(low + i) % kSlots];
    const std::uint64_t found = slot.low.load();
    if (found == 0) return false;
    if (found == low && slot.high.load() == high) return true;
  }
  return false;
}

bool SharedState::MarkGood(const Digest& key) {
  const std::uint64_t low = std::max<std::uint64_t>(key.low, 1);
  const std::uint64_t high = std::max<std::uint64_t>(key.high, 1);
  for (std::size_t i = 0; i < 64; ++i) {
    Slot& slot = block_->slots[(low + i) % kSlots];
    std::uint64_t empty = 0;
    if (slot.low.compare_exchange_strong(empty, low)) {
      slot.high = high;
      ++block_->good;
      return true;
    }
    if (empty == low && HighWord(slot) == high) return false;
  }
  // The neighbourhood is full: the situation will be judged again when it comes up.
  return true;
}

// Of a slot whose low word is there: the other one follows at once, unless its worker was killed.
std::uint64_t SharedState::HighWord(const Slot& slot) {
  constexpr int kSpins = 100;
  constexpr int kPatience = 100'000;
  std::uint64_t high = 0;
  for (int i = 0; high == 0 && i < kPatience; ++i) {
    high = slot.high.load();
    if (high == 0 && i >= kSpins) ::sched_yield();  // Its worker may have lost its core.
  }
  return high;
}

}  // namespace tornfs::harness
