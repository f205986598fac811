#include "harness/mount_table.h"

#include <sys/sysmacros.h>

#include <charconv>

#include "common/fd.h"

namespace tornfs::harness {
namespace {

bool IsOctal(char c) { return c >= '0' && c <= '7'; }

// The kernel writes blank, tab, newline and backslash as \040 and so on.
std::string Unescape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && IsOctal(text[i + 1]) && IsOctal(text[i + 2]) &&
        IsOctal(text[i + 3])) {
      out += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                               (text[i + 3] - '0'));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return parts;
}

// "8:1"; anything else is no device.
dev_t ParseDevice(std::string_view text) {
  unsigned numbers[2] = {0, 0};
  for (unsigned& number : numbers) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) return 0;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.starts_with(':')) text.remove_prefix(1);
  }
  return makedev(numbers[0], numbers[1]);
}

// id parent major:minor root point options [optional...] - type source super-options
bool ParseLine(std::string_view line, MountEntry* entry) {
  const std::vector<std::string_view> words = Split(line, ' ');
  std::size_t dash = 6;
  while (dash < words.size() && words[dash] != "-") ++dash;
  if (dash + 2 >= words.size()) return false;
  entry->device = ParseDevice(words[2]);
  entry->root = Unescape(words[3]);
  entry->point = Unescape(words[4]);
  entry->options = words[5];
  entry->type = Unescape(words[dash + 1]);
  entry->source = Unescape(words[dash + 2]);
  return true;
}

}  // namespace

std::vector<MountEntry> ParseMountTable(std::string_view text) {
  std::vector<MountEntry> table;
  for (std::string_view line : Split(text, '\n')) {
    MountEntry entry;
    if (ParseLine(line, &entry)) table.push_back(std::move(entry));
  }
  return table;
}

Result<std::vector<MountEntry>> ReadMountTable() {
  auto text = ReadFile("/proc/self/mountinfo");
  if (!text) return tl::make_unexpected(text.error());
  return ParseMountTable(*text);
}

}  // namespace tornfs::harness
