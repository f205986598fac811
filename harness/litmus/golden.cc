#include "harness/litmus/golden.h"

#include <sstream>

#include "harness/litmus/litmus_files.h"

namespace tornfs::harness {

GoldenTable ParseGolden(std::string_view text) {
  GoldenTable table;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string program;
    std::string model;
    Golden golden;
    if (words >> program >> model >> golden.count >> std::hex >> golden.fingerprint) {
      table[{program, model}] = golden;
    }
  }
  return table;
}

Result<LitmusSet> BuiltInLitmus() {
  constexpr std::string_view kSuffix = ".litmus";
  LitmusSet set;
  for (const EmbeddedFile& file : LitmusFiles()) {
    if (!file.name.ends_with(kSuffix)) {
      set.golden.merge(ParseGolden(file.text));
      continue;
    }
    auto program = ParseLitmus(file.text, file.name.substr(0, file.name.size() - kSuffix.size()));
    if (!program) return tl::make_unexpected(program.error());
    set.programs.push_back(std::move(*program));
  }
  return set;
}

}  // namespace tornfs::harness
