// Records: prepares in their envelope, as they lie in a data file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "journal/format.h"
#include "journal/prepare.h"
#include "journal/segment.h"
#include "journal/segment_reader.h"
#include "journal/storage.h"

namespace tornfs::journal {

// Where one op lies and what it is.
struct Entry {
  std::uint64_t position = 0;       // Byte in the data file.
  std::uint64_t length = 0;         // Bytes, padding included.
  std::uint64_t checksum = 0;       // Identity of the op.
  std::uint32_t payload_bytes = 0;  // Size of the prepare, wherever its body is.
  std::optional<SegmentReference> reference;
  std::uint64_t base_offset = 0;  // Of the messages in it; next_offset is 0 when there are none.
  std::uint64_t next_offset = 0;

  [[nodiscard]] bool HasMessages() const { return next_offset != 0; }
};

// What an op counts against the capacity: as if its body were in the data file.
[[nodiscard]] std::uint64_t RetainedBytes(const Entry& entry);

// What a prepare says about itself besides its header: the entry without a place. With `check`, a
// body of messages must decode.
// Errors: kInvalid, as DecodePrepare and DecodeBatch.
[[nodiscard]] Result<Entry> DescribePrepare(std::span<const std::byte> prepare, bool check);

// Writes the envelope of `payload`, the payload and zero padding.
// Requires: out.size() == RecordLength(payload.size()).
void EncodeRecord(std::uint64_t generation, std::span<const std::byte> payload,
                  std::span<std::byte> out);

// The record of a prepare whose body is elsewhere.
// Requires: header.size() == prepare_at::kBody; out.size() == kBlockBytes.
void EncodeReferenceRecord(std::uint64_t generation, std::span<const std::byte> header,
                           const SegmentReference& reference, std::span<std::byte> out);

// A verified record, body included. `prepare` points into the reader and lives until its next call.
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
  // `file` and `segments` must outlive the reader. Without segments a reference is refused.
  RecordReader(File& file, std::uint64_t generation, std::uint64_t begin, std::uint64_t limit,
               SegmentReader* segments = nullptr)
      : file_(file),
        segments_(segments),
        generation_(generation),
        position_(begin),
        limit_(limit) {}

  [[nodiscard]] bool AtEnd() const { return position_ >= limit_; }
  [[nodiscard]] std::uint64_t position() const { return position_; }

  // Requires: !AtEnd(). Errors: kDamaged with the position and what is wrong; kIo; kUnsupported for
  // a record kind of another version.
  [[nodiscard]] Result<Record> Next();

 private:
  [[nodiscard]] Status Fill(std::uint64_t bytes);
  [[nodiscard]] Result<SegmentReference> Assemble(std::span<const std::byte> payload);
  [[nodiscard]] tl::unexpected<Error> Refuse(ErrorKind kind, const std::string& what) const;

  File& file_;
  SegmentReader* segments_;
  std::uint64_t generation_;
  std::uint64_t position_;
  std::uint64_t limit_;
  std::vector<std::byte> window_;  // Bytes [window_begin_, window_begin_ + size).
  std::uint64_t window_begin_ = 0;
  std::vector<std::byte> assembled_;  // A prepare whose body was elsewhere.
};

}  // namespace tornfs::journal
