#include "journal/promises.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace tornfs::journal {
namespace {

constexpr std::size_t kChecksumDigits = 16;

std::optional<std::uint64_t> ParseAll(std::string_view digits, int base) {
  std::uint64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value, base);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

bool IsLowerHex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::optional<Promise> ParsePromise(PromiseKind kind, std::string_view rest) {
  const std::size_t space = rest.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  const std::string_view sum = rest.substr(space + 1);
  if (sum.size() != kChecksumDigits || !IsLowerHex(sum)) return std::nullopt;
  const auto op = ParseAll(rest.substr(0, space), 10);
  if (!op) return std::nullopt;
  return Promise{kind, *op, ParseAll(sum, 16).value()};
}

void ApplyLine(std::string_view line, std::vector<Promise>& promises) {
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos) return;
  const std::string_view verb = line.substr(0, space);
  const std::string_view rest = line.substr(space + 1);
  std::optional<Promise> promise;
  if (verb == "ack") promise = ParsePromise(PromiseKind::kAcknowledged, rest);
  if (verb == "durable") promise = ParsePromise(PromiseKind::kDurable, rest);
  if (promise) promises.push_back(*promise);
  if (verb != "truncating") return;
  const auto from = ParseAll(rest, 10);
  if (!from) return;
  std::erase_if(promises, [from](const Promise& p) { return p.op >= *from; });
}

}  // namespace

std::vector<Promise> ParsePromises(std::string_view text) {
  std::vector<Promise> promises;
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    ApplyLine(text.substr(0, end), promises);
    text.remove_prefix(end + 1);
  }
  return promises;
}

}  // namespace tornfs::journal
