#include "common/hash.h"

// Inlined rather than linked: small inputs gain, and static programs need no archive.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <cstring>

namespace tornfs {

std::uint64_t Hash64(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::uint64_t Hash64(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

Digest& Digest::operator+=(const Digest& other) {
  low += other.low;
  high += other.high + (low < other.low ? 1 : 0);
  return *this;
}

Digest& Digest::operator-=(const Digest& other) {
  high -= other.high + (low < other.low ? 1 : 0);
  low -= other.low;
  return *this;
}

std::string Digest::Hex() const { return Hex16(high) + Hex16(low); }

Digest Hash128(std::span<const std::byte> bytes, std::uint64_t seed) {
  const XXH128_hash_t hash = XXH3_128bits_withSeed(bytes.data(), bytes.size(), seed);
  return {hash.low64, hash.high64};
}

Digest Hash128(std::string_view text, std::uint64_t seed) {
  return Hash128(std::as_bytes(std::span(text.data(), text.size())), seed);
}

Digest Mix(const Digest& a, const Digest& b) {
  const std::array<std::uint64_t, 4> words{a.low, a.high, b.low, b.high};
  return Hash128(std::as_bytes(std::span(words)));
}

Digest Mix(const Digest& a, std::uint64_t b) {
  const std::array<std::uint64_t, 3> words{a.low, a.high, b};
  return Hash128(std::as_bytes(std::span(words)));
}

std::string Hex16(std::uint64_t value) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out(16, '0');
  for (std::size_t i = 16; i-- > 0; value >>= 4) out[i] = kDigits[value & 15];
  return out;
}

}  // namespace tornfs
