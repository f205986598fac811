#include "common/units.h"

#include <array>
#include <charconv>
#include <cstdio>
#include <utility>

namespace tornfs {
namespace {

struct Quantity {
  std::uint64_t number;
  std::string_view unit;
};

Result<Quantity> Split(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data()) {
    return Fail(ErrorCode::kInvalid, "not a number: '" + std::string(text) + "'");
  }
  return Quantity{number, text.substr(static_cast<std::size_t>(end - text.data()))};
}

template <std::size_t N>
Result<std::uint64_t> Scale(std::string_view text,
                            const std::array<std::pair<std::string_view, std::uint64_t>, N>& units,
                            const char* expected) {
  auto quantity = Split(text);
  if (!quantity) return tl::make_unexpected(quantity.error());
  for (const auto& [name, factor] : units) {
    if (quantity->unit != name) continue;
    if (quantity->number > UINT64_MAX / factor) {
      return Fail(ErrorCode::kInvalid, "too large: '" + std::string(text) + "'");
    }
    return quantity->number * factor;
  }
  return Fail(ErrorCode::kInvalid, std::string("'").append(text) + "' needs " + expected);
}

}  // namespace

Result<std::uint64_t> ParseSize(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, std::uint64_t>, 6> kUnits{
      {{"", 1},
       {"B", 1},
       {"KiB", 1ULL << 10},
       {"MiB", 1ULL << 20},
       {"GiB", 1ULL << 30},
       {"TiB", 1ULL << 40}}};
  return Scale(text, kUnits, "a unit of B, KiB, MiB, GiB or TiB");
}

Result<std::chrono::milliseconds> ParseDuration(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, std::uint64_t>, 4> kUnits{
      {{"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}}};
  auto value = Scale(text, kUnits, "a unit of ms, s, m or h");
  if (!value) return tl::make_unexpected(value.error());
  if (*value > static_cast<std::uint64_t>(INT64_MAX / 1'000'000)) {
    return Fail(ErrorCode::kInvalid, "too large: '" + std::string(text) + "'");
  }
  return std::chrono::milliseconds(static_cast<std::int64_t>(*value));
}

Result<std::uint64_t> ParseNumber(std::string_view text) {
  auto quantity = Split(text);
  if (!quantity) return tl::make_unexpected(quantity.error());
  if (!quantity->unit.empty()) {
    return Fail(ErrorCode::kInvalid, "not a number: '" + std::string(text) + "'");
  }
  return quantity->number;
}

std::string FormatSize(std::uint64_t bytes) {
  static constexpr std::array<const char*, 5> kNames{"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < kNames.size()) {
    value /= 1024;
    ++unit;
  }
  std::array<char, 32> text{};
  const bool whole = value == static_cast<double>(static_cast<std::uint64_t>(value));
  std::snprintf(text.data(), text.size(), whole ? "%.0f %s" : "%.1f %s", value, kNames[unit]);
  return text.data();
}

}  // namespace tornfs
