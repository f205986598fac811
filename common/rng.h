// Rng: the only source of randomness. Whoever needs some is handed one, so that a seed and a
// version reproduce a run.
//
// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): one word of state, good enough for choosing crashes
// and cheap enough to make one per state. Not for secrets.
#pragma once

#include <cstdint>

#include "common/check.h"

namespace tornfs {

class Rng {
 public:
  explicit Rng(std::uint64_t seed) : state_(seed) {}

  // 64 uniform bits.
  std::uint64_t Next() {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  // Uniform in [0, bound). Requires bound > 0.
  std::uint64_t Below(std::uint64_t bound) {
    CHECK(bound > 0);
    // The lowest 2^64 mod bound values would make some results likelier than others.
    const std::uint64_t unfair = (0 - bound) % bound;
    std::uint64_t value = Next();
    while (value < unfair) value = Next();
    return value % bound;
  }

  // Uniform in [0, 1).
  double Unit() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }

 private:
  std::uint64_t state_;
};

}  // namespace tornfs
