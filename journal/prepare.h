// Prepares: the operations a journal holds, each a 256-byte header and a body, chained by
// checksums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "journal/error.h"
#include "journal/format.h"

namespace tornfs::journal {

// The parts of a header the journal acts on.
struct PrepareHeader {
  std::uint64_t checksum = 0;       // Identity: everything but itself and `view`.
  std::uint64_t body_checksum = 0;  // 0: the body guards itself.
  std::uint64_t cluster = 0;
  std::uint32_t size = 0;  // Bytes, header and body.
  std::uint32_t view = 0;
  std::uint64_t parent = 0;  // Identity of the previous op.
  std::uint64_t op = 0;      // Dense, from 1.
  std::uint8_t operation = kOperationAppend;
  std::uint64_t group = 0;
};

// A sealed prepare with `body`; `fields.size` and both checksums are computed, not taken.
// Requires: kPrepareBytesMin + body.size() <= kPrepareBytesMax.
[[nodiscard]] std::vector<std::byte> BuildPrepare(const PrepareHeader& fields,
                                                  std::span<const std::byte> body);

// The fields as they stand, unchecked. Requires: prepare.size() >= kPrepareBytesMin.
[[nodiscard]] PrepareHeader ReadPrepareHeader(std::span<const std::byte> prepare);

// Reads and checks a whole prepare: command, size, reserved bytes, identity and body checksum. What
// passes here is readable for ever, so append and recovery both call it.
//
// Errors: kInvalid, naming the first thing wrong.  Cost: one hash over the prepare.
[[nodiscard]] Result<PrepareHeader> DecodePrepare(std::span<const std::byte> prepare);

}  // namespace tornfs::journal
