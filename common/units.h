// Sizes and times as people write them: "256MiB", "30s".
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/result.h"

namespace tornfs {

// "4096", "4KiB", "256MiB", "2GiB", "1TiB". A number without a unit is bytes. Errors: kInvalid.
[[nodiscard]] Result<std::uint64_t> ParseSize(std::string_view text);

// "500ms", "30s", "5m", "2h"; the unit is required. Errors: kInvalid.
[[nodiscard]] Result<std::chrono::milliseconds> ParseDuration(std::string_view text);

// A decimal number and nothing else. Errors: kInvalid.
[[nodiscard]] Result<std::uint64_t> ParseNumber(std::string_view text);

// "1.5 MiB", "12 KiB", "17 B".
[[nodiscard]] std::string FormatSize(std::uint64_t bytes);

}  // namespace tornfs
