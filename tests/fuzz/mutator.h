// Mutator: from good inputs to inputs that are nearly good. The same seed gives the same inputs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/rng.h"

namespace tornfs::fuzz {

class Mutator {
 public:
  // `seeds` are good inputs, `words` what is worth putting anywhere. Neither may be empty.
  Mutator(std::uint64_t seed, std::vector<std::string> seeds, std::vector<std::string> words);

  // The next input: a seed, or an earlier input that was kept, changed in one to eight places.
  [[nodiscard]] std::string Next();
  // Keeps `input` as one to start from.
  void Keep(std::string input);

 private:
  void Change(std::string& text);
  [[nodiscard]] const std::string& Any(const std::vector<std::string>& list);

  Rng rng_;
  std::vector<std::string> inputs_;
  std::vector<std::string> words_;
};

}  // namespace tornfs::fuzz
