// Recovery of a public segment whose messages are no longer in the journal: what a crash may have
// left is repaired, everything else is refused with the files untouched.
//
// An index entry proves its bytes: the body was durable before the entry was written. So a log may
// lack the last chunk that the index names, the one in flight, and nothing before it.
#pragma once

#include <cstdint>
#include <string_view>

#include "journal/index.h"
#include "journal/segment.h"

namespace tornfs::journal {

enum class SegmentRefusal : std::uint8_t {
  kFsyncedLogLoss,           // More than the last entry of the index has no batch behind it.
  kFsyncedRebuildShortfall,  // The log ends before the last entry of the index.
  kInteriorDamage,           // A sound batch follows damaged bytes.
  kOffsetGap,                // A sound batch with another offset than the next.
  kUnknownResidue,           // More trailing bytes than one torn batch leaves.
};

[[nodiscard]] std::string_view SegmentRefusalName(SegmentRefusal refusal);

struct SegmentReport {
  std::uint64_t bytes = 0;        // Of the log, all sound.
  std::uint64_t next_offset = 0;  // Behind its last message.
  bool log_cut = false;
  bool index_rebuilt = false;
};

// Checks the segment of the partition that starts at `start_offset`, and repairs a torn tail and an
// index that is behind, ahead by one, or contradicts itself. Repairing a repaired segment does
// nothing.
//
// Errors: kDamaged, its context beginning with SegmentRefusalName(); kIo.  Cost: reads the log
// once; a torn tail twice.
[[nodiscard]] Result<SegmentReport> RecoverSegment(Storage& storage, std::uint64_t start_offset);

}  // namespace tornfs::journal
