// FaultRule: which requests are to go wrong, and how, as a person writes it.
//
//   EFFECT OPERATION [GLOB] [by COMM] [#N | #N.. | #N..M]
//
//   fail:EIO:ext4 fsync wal/* by sqlite3 #2      lie fsync         delay:20ms write #10..20
//
//   EFFECT     fail:ERRNO             the call fails with that error
//              fail:ERRNO:AFTERMATH   of a barrier: what was written fares as ext4 (or xfs), btrfs
//                                     leave it, or is kept for another try (keep). ext4 if left out
//              lie                    a barrier succeeds and makes nothing durable
//              short:SIZE             a write(2) writes no more than SIZE
//              flip[:BIT]             one bit of what is read or written is the other
//              zero                   the first sector of what is read or written is zero
//              misdirect              a write goes 4 KiB further than asked
//              delay:TIME             the call takes that much longer
//   OPERATION  a name of OpKindName, read, open, access, or op for any
//   GLOB, COMM as in a trigger (fusefs/core/trigger.h)
//   #...       which matches, counted from 1; all if left out
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/result.h"
#include "fusefs/fuse/fault_hook.h"

namespace tornfs::harness {

struct FaultRule {
  std::string text;            // As it was written.
  std::optional<Fault> fault;  // Empty: a delay alone.
  std::chrono::milliseconds delay{0};
  std::string operation;    // "op": any.
  std::string glob;         // Empty: any path.
  std::string comm;         // Empty: any caller.
  std::uint64_t first = 1;  // Matches [first, last] are hit.
  std::uint64_t last = UINT64_MAX;

  [[nodiscard]] bool Matches(const FaultRequest& request) const;
};

// Errors: kInvalid; the text says which word is wrong and what would be right.
[[nodiscard]] Result<FaultRule> ParseFaultRule(std::string_view text);

}  // namespace tornfs::harness
