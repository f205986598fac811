// Reading bodies that lie in segments, through the names that the journal retains.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "journal/segment.h"
#include "journal/storage.h"

namespace tornfs::journal {

// Not thread safe.  Cost: one read per body; the segment used last stays open.
class SegmentReader {
 public:
  // `storage` must outlive the reader.
  explicit SegmentReader(Storage& storage) : storage_(storage) {}

  // Fills `out`, whose size is the reference's length.
  // Errors: kDamaged when the segment is missing or too short; kIo.
  [[nodiscard]] Status Read(const SegmentReference& reference, std::span<std::byte> out);

  // Bytes in the segment. Errors: kDamaged when it is missing; kIo.
  [[nodiscard]] Result<std::uint64_t> Length(const SegmentKey& key);

 private:
  [[nodiscard]] Result<File*> Open(const SegmentKey& key);

  Storage& storage_;
  std::optional<SegmentKey> key_;  // Of the open file.
  std::unique_ptr<File> file_;
};

}  // namespace tornfs::journal
