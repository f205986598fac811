#include "harness/device/step.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace tornfs::harness {
namespace {

constexpr std::uint64_t kBytesMost = 1 << 20;

}  // namespace

std::string StepText(const StepWords& step) {
  std::string text;
  for (const std::string& word : step) text += (text.empty() ? "" : " ") + word;
  return text;
}

Result<std::string> BytesOfRuns(std::string_view text) {
  std::string bytes;
  while (!text.empty()) {
    const std::string_view run = text.substr(0, text.find(','));
    text.remove_prefix(std::min(run.size() + 1, text.size()));
    std::uint64_t count = 1;
    if (run.size() > 2 && run[1] == '*') {
      const auto [end, error] = std::from_chars(run.data() + 2, run.data() + run.size(), count);
      if (error != std::errc() || end != run.data() + run.size()) count = kBytesMost + 1;
    } else if (run.size() != 1) {
      count = kBytesMost + 1;
    }
    if (count > kBytesMost - bytes.size()) {
      return Fail(ErrorCode::kInvalid, "not a text of runs: " + std::string(run));
    }
    bytes.append(count, run[0] == '0' ? '\0' : run[0]);
  }
  return bytes;
}

}  // namespace tornfs::harness
