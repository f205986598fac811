#include "common/memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <string_view>

#include "common/fd.h"

namespace tornfs {
namespace {

// The first number at or behind `at` in `text`; `otherwise` if there is none.
std::uint64_t NumberAt(std::string_view text, std::size_t at, std::uint64_t otherwise) {
  const std::size_t begin = text.find_first_of("0123456789", at);
  if (begin == std::string_view::npos) return otherwise;
  std::uint64_t value = 0;
  const auto parsed = std::from_chars(text.data() + begin, text.data() + text.size(), value);
  return parsed.ec == std::errc() ? value : otherwise;
}

std::uint64_t MachineAvailable() {
  const auto text = ReadFile("/proc/meminfo");
  if (!text) return UINT64_MAX;
  const std::size_t line = text->find("MemAvailable:");
  if (line == std::string::npos) return UINT64_MAX;
  constexpr std::uint64_t kUnit = 1024;
  const std::uint64_t units = NumberAt(*text, line, UINT64_MAX / kUnit);
  return units * kUnit;
}

// "max" has no number in it.
std::uint64_t GroupAvailable() {
  const auto own = ReadFile("/proc/self/cgroup");
  if (!own) return UINT64_MAX;
  const std::size_t line = own->find("0::");
  if (line == std::string::npos) return UINT64_MAX;
  const std::string path = own->substr(line + 3, own->find('\n', line) - line - 3);
  const auto limit = ReadFile("/sys/fs/cgroup" + path + "/memory.max");
  return limit ? NumberAt(*limit, 0, UINT64_MAX) : UINT64_MAX;
}

}  // namespace

std::uint64_t ResidentBytes() {
  // Opened each time: the link leads to the process that follows it, and processes fork.
  const Fd file(::open("/proc/self/statm", O_RDONLY | O_CLOEXEC));
  std::array<char, 128> text{};
  const ssize_t got = file.valid() ? ::read(file.get(), text.data(), text.size()) : -1;
  if (got <= 0) return 0;
  const std::string_view line(text.data(), static_cast<std::size_t>(got));
  static const auto kPage = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return NumberAt(line, std::min(line.find(' '), line.size()), 0) * kPage;
}

std::uint64_t AvailableBytes() { return std::min(MachineAvailable(), GroupAvailable()); }

}  // namespace tornfs
