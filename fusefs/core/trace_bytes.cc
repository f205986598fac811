#include "fusefs/core/trace_bytes.h"

#include <utility>

namespace tornfs::trace {

void ByteWriter::Varint(std::uint64_t value) {
  while (value >= 0x80) {
    Byte(static_cast<std::uint8_t>(value | 0x80));
    value >>= 7;
  }
  Byte(static_cast<std::uint8_t>(value));
}

void ByteWriter::Signed(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  Varint(value < 0 ? ~(bits << 1) : bits << 1);
}

void ByteReader::Fail(std::string why) {
  if (!ok()) return;
  why_ = std::move(why);
  rest_ = {};
}

std::string_view ByteReader::Raw(std::uint64_t length) {
  if (length > rest_.size()) {
    Fail("ends early");
    return {};
  }
  const std::string_view taken = rest_.substr(0, length);
  rest_.remove_prefix(length);
  return taken;
}

std::uint8_t ByteReader::Byte() {
  const std::string_view byte = Raw(1);
  return byte.empty() ? std::uint8_t{0} : static_cast<std::uint8_t>(byte[0]);
}

std::uint64_t ByteReader::Varint(std::uint64_t limit) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const std::uint64_t byte = Byte();
    if (!ok()) return 0;
    if (shift == 63 && byte > 1) break;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      Require(value <= limit, "a number is out of range");
      return ok() ? value : 0;
    }
  }
  Fail("a number is too long");
  return 0;
}

std::int64_t ByteReader::Signed() {
  const std::uint64_t bits = Varint();
  return static_cast<std::int64_t>((bits & 1) != 0 ? ~(bits >> 1) : bits >> 1);
}

std::uint64_t ByteReader::Count(std::uint64_t record_bytes) {
  const std::uint64_t count = Varint();
  if (count <= rest_.size() / record_bytes) return count;
  Fail("more records than bytes");
  return 0;
}

}  // namespace tornfs::trace
