// The choice between the two slots of a frontier: which state counts, and what is wrong with the
// other slot. A pure function, because everything a journal may lose or keep hangs on it.
//
// Two alternating roots with a sequence and a checksum are an old idea (LMDB's meta pages, ZFS's
// uberblocks, TigerBeetle's superblock copies). The named outcomes are TigerBeetle's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "journal/slot.h"

namespace tornfs::journal {

using SlotReading = tl::expected<Slot, SlotFault>;
using SlotReadings = std::array<SlotReading, kSlotCount>;

// How the other slot stands to the newest one.
enum class Partner : std::uint8_t {
  kPrevious,   // The publication before: all is well.
  kLost,       // Does not verify. It may have been newer: the tail of the data file decides.
  kSkipped,    // Three publications behind: a write to it never arrived. The newest is complete.
  kMisplaced,  // One of the two lies in the other's place. The newest is complete.
};

struct FrontierChoice {
  Slot newest;
  std::size_t position = 0;  // Of the newest slot, as found.
  Partner partner = Partner::kPrevious;
  State partner_state;  // Meaningful unless the partner is lost.
};

enum class FrontierRefusal : std::uint8_t {
  kUnreadable,        // Neither slot could be read.
  kUnverified,        // Neither slot verifies.
  kIdentityMismatch,  // The slots belong to different journals.
  kSequenceMismatch,  // No history of publications leaves these two sequences behind.
};

[[nodiscard]] std::string_view FrontierRefusalText(FrontierRefusal refusal);

// `check_redundancy` false takes the higher sequence and asks nothing (the first slot wins a tie).
[[nodiscard]] tl::expected<FrontierChoice, FrontierRefusal> Choose(const SlotReadings& slots,
                                                                   bool check_redundancy = true);

// Where publication `sequence` belongs.
[[nodiscard]] constexpr std::size_t SlotPosition(std::uint64_t sequence) {
  return static_cast<std::size_t>(sequence % kSlotCount);
}

}  // namespace tornfs::journal
