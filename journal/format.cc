#include "journal/format.h"

#include <charconv>

namespace tornfs::journal {
namespace {

constexpr std::string_view kDataFilePrefix = "prepares-";
constexpr std::string_view kDataFileSuffix = ".wal";

}  // namespace

std::string DataFileName(std::uint64_t generation) {
  std::string name(kDataFilePrefix);
  name += std::to_string(generation);
  name += kDataFileSuffix;
  return name;
}

std::optional<std::uint64_t> ParseDataFileName(std::string_view name) {
  if (!name.starts_with(kDataFilePrefix) || !name.ends_with(kDataFileSuffix) ||
      name.size() <= kDataFilePrefix.size() + kDataFileSuffix.size()) {
    return std::nullopt;
  }
  std::string_view digits = name;
  digits.remove_prefix(kDataFilePrefix.size());
  digits.remove_suffix(kDataFileSuffix.size());
  std::uint64_t generation = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), generation);
  if (error != std::errc() || DataFileName(generation) != name) return std::nullopt;
  return generation;
}

}  // namespace tornfs::journal
