// XXH3 behind two small types. 64 bits guard the journal's formats; 128 bits name trees and plans,
// where two different things must never share a name by accident.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace tornfs {

// XXH3, 64 bits, seed 0.
[[nodiscard]] std::uint64_t Hash64(std::span<const std::byte> bytes);
[[nodiscard]] std::uint64_t Hash64(std::string_view text);

// A 128-bit digest. Digests of the parts of an unordered collection are combined with +=, which
// commutes; an ordered one is combined with Mix.
struct Digest {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  friend auto operator<=>(const Digest&, const Digest&) = default;
  Digest& operator+=(const Digest& other);
  Digest& operator-=(const Digest& other);
  // 32 lower-case hex digits.
  [[nodiscard]] std::string Hex() const;
};

// XXH3, 128 bits. `seed` separates uses: the same bytes with another seed are another thing.
[[nodiscard]] Digest Hash128(std::span<const std::byte> bytes, std::uint64_t seed = 0);
[[nodiscard]] Digest Hash128(std::string_view text, std::uint64_t seed = 0);

// The digest of the pair (a, b); order matters.
[[nodiscard]] Digest Mix(const Digest& a, const Digest& b);
[[nodiscard]] Digest Mix(const Digest& a, std::uint64_t b);

// `value` as 16 lower-case hex digits.
[[nodiscard]] std::string Hex16(std::uint64_t value);

}  // namespace tornfs

template <>
struct std::hash<tornfs::Digest> {
  std::size_t operator()(const tornfs::Digest& digest) const noexcept {
    return static_cast<std::size_t>(digest.low);
  }
};
