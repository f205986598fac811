// Message batches: the body of a prepare of operation kOperationMessages. The journal needs to know
// which offsets a body holds; what the messages are is the caller's business.
//
//   offset  size  field
//        0     8  partition
//        8     8  base offset          of the first message
//       16     8  base timestamp
//       24     8  origin timestamp
//       32     8  batch length         of the whole body
//       40     8  batch checksum       XXH3 of these 256 bytes with this field taken as zero, and
//       of
//                                   the XXH3 of the messages behind them
//       48     4  message count        at least 1
//       52   204  reserved             must be zero
//      256        messages
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "journal/error.h"

namespace tornfs::journal {

inline constexpr std::size_t kBatchHeaderBytes = 256;

struct BatchHeader {
  std::uint64_t partition = 0;
  std::uint64_t base_offset = 0;
  std::uint64_t base_timestamp = 0;
  std::uint64_t origin_timestamp = 0;
  std::uint32_t message_count = 1;

  // Behind the last message.
  [[nodiscard]] std::uint64_t next_offset() const { return base_offset + message_count; }
  friend bool operator==(const BatchHeader&, const BatchHeader&) = default;
};

// A body with a sealed header in front of `messages`.
[[nodiscard]] std::vector<std::byte> BuildBatch(const BatchHeader& header,
                                                std::span<const std::byte> messages);

// Any bytes are safe. Errors: kInvalid, naming the first thing wrong. Cost: one hash over the body.
[[nodiscard]] Result<BatchHeader> DecodeBatch(std::span<const std::byte> body);

}  // namespace tornfs::journal
