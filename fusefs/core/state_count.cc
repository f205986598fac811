#include "fusefs/core/state_count.h"

#include <algorithm>
#include <cstdio>
#include <unordered_map>

namespace tornfs {
namespace {

constexpr std::uint64_t kBase = 1'000'000'000;
constexpr int kBaseDigits = 9;
constexpr std::size_t kMostSubproblems = 20'000;

class Counter {
 public:
  Counter(std::span<const Node> nodes, const std::vector<bool>& open)
      : below_(nodes.size()), above_(nodes.size()) {
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
      if (!open[i]) continue;
      all_.push_back(i);
      for (const std::uint32_t earlier : nodes[i].requires_) {
        if (!open[earlier]) continue;
        below_[i].push_back(earlier);
        above_[earlier].push_back(i);
      }
    }
  }

  std::optional<BigCount> Run() { return Count(all_); }

 private:
  using Set = std::vector<std::uint32_t>;  // Rising.
  using Edges = std::vector<std::vector<std::uint32_t>>;

  // The product over the components of `set`.
  std::optional<BigCount> Count(const Set& set) {
    BigCount product = 1;
    std::vector<bool> in(below_.size(), false);
    for (const std::uint32_t node : set) in[node] = true;
    for (const std::uint32_t node : set) {
      if (!in[node]) continue;
      const auto count = CountComponent(TakeComponent(node, in));
      if (!count) return std::nullopt;
      product *= *count;
    }
    return product;
  }

  Set TakeComponent(std::uint32_t start, std::vector<bool>& in) const {
    Set component{start};
    in[start] = false;
    for (std::size_t next = 0; next < component.size(); ++next) {
      for (const Edges* edges : {&below_, &above_}) {
        for (const std::uint32_t other : (*edges)[component[next]]) {
          if (!in[other]) continue;
          in[other] = false;
          component.push_back(other);
        }
      }
    }
    std::sort(component.begin(), component.end());
    return component;
  }

  std::optional<BigCount> CountComponent(const Set& set) {
    if (set.size() == 1) return BigCount(2);
    std::string key(reinterpret_cast<const char*>(set.data()), set.size() * sizeof set[0]);
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
    if (known_.size() >= kMostSubproblems) return std::nullopt;
    // The middle of a chain, and the hub of a star, leave the smallest pieces.
    const auto degree = [&](std::uint32_t node) {
      return below_[node].size() + above_[node].size();
    };
    std::uint32_t pivot = set[set.size() / 2];
    for (const std::uint32_t node : set) {
      if (degree(node) > degree(pivot)) pivot = node;
    }
    const auto without = Count(Except(set, pivot, above_));
    if (!without) return std::nullopt;
    const auto with = Count(Except(set, pivot, below_));
    if (!with) return std::nullopt;
    return known_[std::move(key)] = *without + *with;
  }

  // `set` without `node` and all that `edges` lead to from it.
  static Set Except(const Set& set, std::uint32_t node, const Edges& edges) {
    std::vector<bool> gone(edges.size(), false);
    Set reached{node};
    gone[node] = true;
    for (std::size_t next = 0; next < reached.size(); ++next) {
      for (const std::uint32_t other : edges[reached[next]]) {
        if (!gone[other]) reached.push_back(other);
        gone[other] = true;
      }
    }
    Set rest;
    std::ranges::copy_if(set, std::back_inserter(rest), [&](auto each) { return !gone[each]; });
    return rest;
  }

  Edges below_;
  Edges above_;
  Set all_;
  std::unordered_map<std::string, BigCount> known_;
};

}  // namespace

BigCount::BigCount(std::uint64_t value) {
  for (; value > 0; value /= kBase) digits_.push_back(static_cast<std::uint32_t>(value % kBase));
}

void BigCount::Trim() {
  while (!digits_.empty() && digits_.back() == 0) digits_.pop_back();
}

BigCount& BigCount::operator+=(const BigCount& other) {
  digits_.resize(std::max(digits_.size(), other.digits_.size()) + 1, 0);
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < digits_.size(); ++i) {
    carry += digits_[i];
    if (i < other.digits_.size()) carry += other.digits_[i];
    digits_[i] = static_cast<std::uint32_t>(carry % kBase);
    carry /= kBase;
  }
  Trim();
  return *this;
}

BigCount& BigCount::operator*=(const BigCount& other) {
  std::vector<std::uint32_t> product(digits_.size() + other.digits_.size() + 1, 0);
  for (std::size_t i = 0; i < digits_.size(); ++i) {
    std::uint64_t carry = 0;
    for (std::size_t j = 0; j < other.digits_.size() || carry > 0; ++j) {
      carry += product[i + j];
      if (j < other.digits_.size()) {
        carry += static_cast<std::uint64_t>(digits_[i]) * other.digits_[j];
      }
      product[i + j] = static_cast<std::uint32_t>(carry % kBase);
      carry /= kBase;
    }
  }
  digits_ = std::move(product);
  Trim();
  return *this;
}

std::string BigCount::ToString() const {
  if (digits_.empty()) return "0";
  std::string text = std::to_string(digits_.back());
  for (std::size_t i = digits_.size() - 1; i-- > 0;) {
    char part[kBaseDigits + 1];
    std::snprintf(part, sizeof part, "%09u", digits_[i]);
    text += part;
  }
  return text;
}

BigCount BigCount::Parse(const std::string& decimal) {
  BigCount value;
  for (const char c : decimal) {
    if (c < '0' || c > '9') return 0;
    value *= 10;
    value += static_cast<std::uint64_t>(c - '0');
  }
  return value;
}

std::uint64_t BigCount::Saturated() const {
  std::uint64_t value = 0;
  for (std::size_t i = digits_.size(); i-- > 0;) {
    if (value > (UINT64_MAX - digits_[i]) / kBase) return UINT64_MAX;
    value = value * kBase + digits_[i];
  }
  return value;
}

std::optional<BigCount> CountClosedSets(std::span<const Node> nodes,
                                        const std::vector<bool>& open) {
  return Counter(nodes, open).Run();
}

}  // namespace tornfs
