// How much memory this process and this machine have.
#pragma once

#include <cstdint>

namespace tornfs {

// Bytes of this process that are in memory, files it has mapped included. 0 if that cannot be told.
// Cost: some microseconds.
[[nodiscard]] std::uint64_t ResidentBytes();

// Bytes that new work could take without swapping (MemAvailable), and no more than the control
// group of this process leaves. UINT64_MAX if that cannot be told.
[[nodiscard]] std::uint64_t AvailableBytes();

}  // namespace tornfs
