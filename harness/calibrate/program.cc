#include "harness/calibrate/program.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <sstream>
#include <utility>

#include "common/fd.h"

namespace tornfs::harness {
namespace {

// A call and how many words may follow it.
struct Shape {
  std::string_view call;
  std::size_t least;
  std::size_t most;
};

constexpr std::array kShapes{
    Shape{"create", 1, 1},    Shape{"mkdir", 1, 1},    Shape{"symlink", 2, 2},
    Shape{"link", 2, 2},      Shape{"unlink", 1, 1},   Shape{"rmdir", 1, 1},
    Shape{"rename", 2, 2},    Shape{"write", 2, 4},    Shape{"store", 3, 3},
    Shape{"truncate", 2, 2},  Shape{"allocate", 3, 4}, Shape{"punch", 3, 3},
    Shape{"chmod", 2, 2},     Shape{"copy", 2, 2},     Shape{"fsync", 1, 1},
    Shape{"fdatasync", 1, 1}, Shape{"sync", 0, 0},     Shape{"close", 1, 1},
    Shape{"setxattr", 3, 3},  Shape{"tmpfile", 1, 1},
};

Status CheckStep(const StepWords& step) {
  for (const Shape& shape : kShapes) {
    if (step[0] == shape.call && step.size() > shape.least && step.size() <= shape.most + 1) {
      return {};
    }
  }
  return Fail(ErrorCode::kInvalid, "no such step: " + StepText(step));
}

StepWords WordsOf(const std::string& line) {
  std::istringstream stream(line.substr(0, line.find('#')));
  StepWords words;
  for (std::string word; stream >> word;) words.push_back(std::move(word));
  return words;
}

Result<std::vector<CalibrationProgram>> ReadOne(const std::filesystem::path& path) {
  auto text = ReadFile(path.string());
  if (!text) return tl::make_unexpected(text.error());
  if (path.extension() != ".litmus") {
    auto programs = ParseProgramsJson(*text);
    if (!programs)
      return Fail(ErrorCode::kInvalid, path.string() + ": " + programs.error().context);
    return programs;
  }
  auto program = ParseLitmusSteps(*text, path.stem().string());
  if (!program) return tl::make_unexpected(program.error());
  return std::vector<CalibrationProgram>{std::move(*program)};
}

}  // namespace

Result<CalibrationProgram> ParseLitmusSteps(std::string_view text, std::string_view name) {
  CalibrationProgram program;
  program.name = name;
  std::vector<StepWords>* section = nullptr;
  std::istringstream stream{std::string(text)};
  for (std::string line; std::getline(stream, line);) {
    StepWords words = WordsOf(line);
    if (words.empty()) continue;
    if (words.size() == 1 && (words[0] == "setup" || words[0] == "run")) {
      section = words[0] == "setup" ? &program.setup : &program.main;
    } else if (words[0] == "tear:") {
      program.sectors = words.back() == "sector";
    } else if (line.front() == ' ' && section != nullptr) {
      const Status good = CheckStep(words);
      if (!good) return Fail(ErrorCode::kInvalid, program.name + ": " + good.error().context);
      section->push_back(std::move(words));
    }
  }
  if (program.main.empty()) return Fail(ErrorCode::kInvalid, program.name + ": runs nothing");
  return program;
}

Result<std::vector<CalibrationProgram>> ReadPrograms(const std::string& path) {
  std::error_code failed;
  if (!std::filesystem::is_directory(path, failed)) return ReadOne(path);
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(path, failed)) {
    if (entry.path().extension() == ".litmus") files.push_back(entry.path());
  }
  if (failed) return IoError(failed.value(), path);
  std::sort(files.begin(), files.end());
  std::vector<CalibrationProgram> programs;
  for (const std::filesystem::path& file : files) {
    auto one = ReadOne(file);
    if (!one) return one;
    std::move(one->begin(), one->end(), std::back_inserter(programs));
  }
  return programs;
}

}  // namespace tornfs::harness
