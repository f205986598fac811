// Programs in the vocabulary of recorded outcomes (program.h, ParseProgramsJson).
#include <fcntl.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "common/units.h"
#include "harness/calibrate/program.h"

namespace tornfs::harness {
namespace {

using Json = nlohmann::json;

Result<StepWords> WordsOf(const Json& json) {
  if (!json.is_array() || json.empty()) return Fail(ErrorCode::kInvalid, "no step: " + json.dump());
  StepWords words;
  for (const Json& word : json) {
    if (word.is_string()) {
      words.push_back(word.get<std::string>());
    } else if (word.is_number_unsigned()) {
      words.push_back(std::to_string(word.get<std::uint64_t>()));
    } else {
      return Fail(ErrorCode::kInvalid, "neither a word nor a number in " + json.dump());
    }
  }
  return words;
}

// Steps of the one vocabulary as those of the other; empty if the step does nothing.
Result<std::vector<StepWords>> Translate(const StepWords& words) {
  const std::string& verb = words[0];
  const auto is = [&](std::string_view name, std::size_t least, std::size_t most) {
    return verb == name && words.size() > least && words.size() <= most + 1;
  };
  const auto runs = [](const std::string& byte, const std::string& count) {
    return byte + "*" + count;
  };
  using Steps = std::vector<StepWords>;
  if (is("mk", 1, 3)) {
    const std::string text =
        runs(words.size() > 2 ? words[2] : "o", words.size() > 3 ? words[3] : "4096");
    return Steps{{"create", words[1]}, {"write", words[1], text}, {"close", words[1]}};
  }
  if (is("creat", 1, 1)) return Steps{{"create", words[1]}};
  if (is("w", 3, 4)) {
    StepWords step{"write", words[1], runs(words[2], words[3])};
    if (words.size() > 4) step.push_back("@" + words[4]);
    return Steps{std::move(step)};
  }
  if (is("op", 1, 2)) {
    const auto flags = ParseNumber(words.size() > 2 ? words[2] : "0");
    if (flags && (*flags & O_TRUNC) != 0) return Steps{{"truncate", words[1], "0"}};
    return Steps{};
  }
  if (is("mark", 1, 1)) return Steps{};
  if (is("fsyncdir", 0, 1)) return Steps{{"fsync", words.size() > 1 ? words[1] : "."}};
  if (is("ren", 2, 2)) return Steps{{"rename", words[1], words[2]}};
  if (is("unl", 1, 1)) return Steps{{"unlink", words[1]}};
  if (is("tr", 2, 2)) return Steps{{"truncate", words[1], words[2]}};
  if (is("posix_fallocate", 3, 3)) return Steps{{"allocate", words[1], words[2], words[3]}};
  if (is("close", 1, 1) || is("fsync", 1, 1) || is("fdatasync", 1, 1) || is("link", 2, 2) ||
      is("mkdir", 1, 1) || is("rmdir", 1, 1) || is("chmod", 2, 2) || is("setxattr", 3, 3)) {
    return Steps{words};
  }
  return Fail(ErrorCode::kInvalid, "no such step: " + StepText(words));
}

Result<std::vector<StepWords>> ParseSteps(const Json& program, const char* key) {
  std::vector<StepWords> steps;
  const auto found = program.find(key);
  if (found == program.end() || !found->is_array()) {
    return Fail(ErrorCode::kInvalid, std::string("a program has no steps '") + key + "'");
  }
  for (const Json& json : *found) {
    auto words = WordsOf(json);
    if (!words) return tl::make_unexpected(words.error());
    auto translated = Translate(*words);
    if (!translated) return translated;
    std::move(translated->begin(), translated->end(), std::back_inserter(steps));
  }
  return steps;
}

}  // namespace

Result<std::vector<CalibrationProgram>> ParseProgramsJson(std::string_view json) {
  const Json list = Json::parse(json, nullptr, false);
  if (!list.is_array()) return Fail(ErrorCode::kInvalid, "not a JSON array of programs");
  std::vector<CalibrationProgram> programs;
  for (const Json& one : list) {
    if (!one.is_object() || !one.contains("name") || !one["name"].is_string()) {
      return Fail(ErrorCode::kInvalid, "a program without a name");
    }
    CalibrationProgram program;
    program.name = one["name"].get<std::string>();
    for (auto [key, steps] : {std::pair{"setup", &program.setup}, {"main", &program.main}}) {
      auto parsed = ParseSteps(one, key);
      if (!parsed) return Fail(ErrorCode::kInvalid, program.name + ": " + parsed.error().context);
      *steps = std::move(*parsed);
    }
    programs.push_back(std::move(program));
  }
  return programs;
}

}  // namespace tornfs::harness
