// What the independent enumerator (tests/litmus/enumerate.py) says of the built-in litmus programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/litmus/program.h"

namespace tornfs::harness {

struct Golden {
  std::size_t count = 0;  // Of outcomes.
  std::uint64_t fingerprint = 0;
};

// By program and model.
using GoldenTable = std::map<std::pair<std::string, std::string>, Golden>;

// Lines `PROGRAM MODEL COUNT FINGERPRINT LETTERS...`; others are left out.
[[nodiscard]] GoldenTable ParseGolden(std::string_view text);

struct LitmusSet {
  std::vector<LitmusProgram> programs;  // By name.
  GoldenTable golden;
};

// Everything that is part of the program. Errors: kInvalid for a file that is no litmus program.
[[nodiscard]] Result<LitmusSet> BuiltInLitmus();

}  // namespace tornfs::harness
