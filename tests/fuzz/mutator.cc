#include "fuzz/mutator.h"

#include <algorithm>
#include <utility>

namespace tornfs::fuzz {
namespace {

constexpr std::size_t kMostKept = 2000;
constexpr std::size_t kLongest = 4096;

}  // namespace

Mutator::Mutator(std::uint64_t seed, std::vector<std::string> seeds, std::vector<std::string> words)
    : rng_(seed), inputs_(std::move(seeds)), words_(std::move(words)) {}

const std::string& Mutator::Any(const std::vector<std::string>& list) {
  return list[rng_.Below(list.size())];
}

std::string Mutator::Next() {
  std::string text = Any(inputs_);
  for (std::uint64_t changes = 1 + rng_.Below(8); changes > 0; --changes) Change(text);
  text.resize(std::min(text.size(), kLongest));
  return text;
}

void Mutator::Keep(std::string input) {
  if (inputs_.size() < kMostKept) {
    inputs_.push_back(std::move(input));
  } else {
    inputs_[rng_.Below(inputs_.size())] = std::move(input);
  }
}

void Mutator::Change(std::string& text) {
  const std::size_t at = rng_.Below(text.size() + 1);
  const std::size_t length = std::min<std::size_t>(text.size() - at, rng_.Below(16));
  switch (rng_.Below(8)) {
    case 0: text.insert(at, 1, static_cast<char>(rng_.Below(256))); break;
    case 1: text.erase(at, length); break;
    case 2: text.insert(at, text.substr(at, length)); break;
    case 3: text.insert(at, Any(words_)); break;
    case 4: text.replace(at, length, Any(words_)); break;
    case 5: {
      const std::string& other = Any(inputs_);
      const std::size_t from = rng_.Below(other.size() + 1);
      text = text.substr(0, at) + other.substr(from);
      break;
    }
    case 6: text.insert(at, std::to_string(rng_.Next() >> rng_.Below(64))); break;
    default:
      if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << rng_.Below(8)));
  }
}

}  // namespace tornfs::fuzz
