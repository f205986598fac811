// Records: prepares in their envelope, as they lie in a data file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "journal/format.h"
#include "journal/prepare.h"
#include "journal/storage.h"

namespace tornfs::journal {

// Where one op lies and what it is.
struct Entry {
  std::uint64_t position = 0;       // Byte in the data file.
  std::uint64_t length = 0;         // Bytes, padding included.
  std::uint64_t checksum = 0;       // Identity of the op.
  std::uint32_t payload_bytes = 0;  // Size of the prepare.
};

// Writes the envelope of `payload`, the payload and zero padding.
// Requires: out.size() == RecordLength(payload.size()).
void EncodeRecord(std::uint64_t generation, std::span<const std::byte> payload,
                  std::span<std::byte> out);

// A verified record. `prepare` points into the reader and lives until its next call.
struct Record {
  Entry entry;
  PrepareHeader header;
  std::span<const std::byte> prepare;
};

// Reads the records of [begin, limit) of one data file in order and checks each one by itself:
// bounds, checksum, generation, kind and prepare. That they form a chain is the caller's business.
//
// Not thread safe.  Cost: reads of 64 KiB, or of one record; never a byte at or past `limit`.
class RecordReader {
 public:
  // `file` must outlive the reader.
  RecordReader(File& file, std::uint64_t generation, std::uint64_t begin, std::uint64_t limit)
      : file_(file), generation_(generation), position_(begin), limit_(limit) {}

  [[nodiscard]] bool AtEnd() const { return position_ >= limit_; }
  [[nodiscard]] std::uint64_t position() const { return position_; }

  // Requires: !AtEnd(). Errors: kDamaged with the position and what is wrong; kIo; kUnsupported for
  // a record kind of another version.
  [[nodiscard]] Result<Record> Next();

 private:
  [[nodiscard]] Status Fill(std::uint64_t bytes);
  [[nodiscard]] tl::unexpected<Error> Refuse(ErrorKind kind, const std::string& what) const;

  File& file_;
  std::uint64_t generation_;
  std::uint64_t position_;
  std::uint64_t limit_;
  std::vector<std::byte> window_;  // Bytes [window_begin_, window_begin_ + size).
  std::uint64_t window_begin_ = 0;
};

}  // namespace tornfs::journal
