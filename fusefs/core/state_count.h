// How many legal states there are: exact, however many.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fusefs/core/window.h"

namespace tornfs {

// A natural number without a bound.
class BigCount {
 public:
  BigCount(std::uint64_t value = 0);  // NOLINT: a small number is one.

  BigCount& operator+=(const BigCount& other);
  BigCount& operator*=(const BigCount& other);
  friend BigCount operator+(BigCount a, const BigCount& b) { return a += b; }
  friend BigCount operator*(BigCount a, const BigCount& b) { return a *= b; }
  friend bool operator==(const BigCount&, const BigCount&) = default;

  // Decimal.
  [[nodiscard]] std::string ToString() const;
  // Errors: none; text that is no number counts as 0.
  [[nodiscard]] static BigCount Parse(const std::string& decimal);
  // UINT64_MAX for anything larger.
  [[nodiscard]] std::uint64_t Saturated() const;

 private:
  void Trim();

  std::vector<std::uint32_t> digits_;  // Base 10^9, lowest first, no leading zero.
};

// The number of sets of the nodes marked in `open` that are closed under "requires" among
// themselves. Works on connected components, each by the states with and without one of its nodes;
// equal subproblems are solved once. Empty when that would take too long (about a second).
[[nodiscard]] std::optional<BigCount> CountClosedSets(std::span<const Node> nodes,
                                                      const std::vector<bool>& open);

}  // namespace tornfs
