// Promises: what earlier runs of the program told the world, read back from their output.
//
//   ack OP SUM        op was acknowledged after its group was durable
//   durable OP SUM    op was found at an open
//   truncating OP     OP and everything after it may be dropped from here on
//
// SUM is 16 lower-case hex digits. Any other line, and a last line without a newline, is not a
// promise.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tornfs::journal {

enum class PromiseKind : std::uint8_t { kAcknowledged, kDurable };

struct Promise {
  PromiseKind kind = PromiseKind::kAcknowledged;
  std::uint64_t op = 0;
  std::uint64_t checksum = 0;
};

// The promises that still stand at the end of `text`, in order.
[[nodiscard]] std::vector<Promise> ParsePromises(std::string_view text);

}  // namespace tornfs::journal
