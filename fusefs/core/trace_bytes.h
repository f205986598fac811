// Varints into and out of byte strings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tornfs::trace {

class ByteWriter {
 public:
  void Byte(std::uint8_t value) { bytes_ += static_cast<char>(value); }
  void Varint(std::uint64_t value);
  void Signed(std::int64_t value);
  void Raw(std::string_view bytes) { bytes_ += bytes; }

  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// Takes values off the front. The first failure sticks: from then on every value is 0, and the
// first reason is kept, so that a caller checks once per record.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  [[nodiscard]] std::uint8_t Byte();
  // A value above `limit` is a failure.
  [[nodiscard]] std::uint64_t Varint(std::uint64_t limit = UINT64_MAX);
  [[nodiscard]] std::int64_t Signed();
  [[nodiscard]] std::string_view Raw(std::uint64_t length);
  // A number of records to come, none of which is shorter than `record_bytes`.
  [[nodiscard]] std::uint64_t Count(std::uint64_t record_bytes = 1);

  void Fail(std::string why);
  // Fails unless `condition`.
  void Require(bool condition, const char* why) {
    if (!condition) Fail(why);
  }
  [[nodiscard]] bool ok() const { return why_.empty(); }
  [[nodiscard]] const std::string& why() const { return why_; }
  [[nodiscard]] std::size_t left() const { return rest_.size(); }

 private:
  std::string_view rest_;
  std::string why_;
};

}  // namespace tornfs::trace
