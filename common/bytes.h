// Little-endian loads and stores for on-disk formats. Positions are in bytes; a position outside
// the span is a bug and aborts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "common/check.h"

namespace tornfs {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the formats are little-endian");

template <class Integer>
[[nodiscard]] Integer LoadLe(std::span<const std::byte> bytes, std::size_t at) {
  CHECK(at <= bytes.size() && sizeof(Integer) <= bytes.size() - at);
  Integer value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

template <class Integer>
void StoreLe(std::span<std::byte> bytes, std::size_t at, Integer value) {
  CHECK(at <= bytes.size() && sizeof(Integer) <= bytes.size() - at);
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

}  // namespace tornfs
