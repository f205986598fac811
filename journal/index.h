// The index of a segment: where in the log some of its batches start. It belongs to the owner of
// the messages; the journal only deletes it together with its log.
//
// Entries of 24 bytes: offset of the first message, timestamp, position in the log; 8 bytes each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "journal/error.h"
#include "journal/storage.h"

namespace tornfs::journal {

inline constexpr std::size_t kIndexEntryBytes = 24;

struct IndexEntry {
  std::uint64_t offset = 0;
  std::uint64_t timestamp = 0;
  std::uint64_t position = 0;

  friend bool operator==(const IndexEntry&, const IndexEntry&) = default;
};

[[nodiscard]] std::vector<std::byte> EncodeIndex(std::span<const IndexEntry> entries);
// Whole entries; a rest that is not one is left out. Any bytes are safe.
[[nodiscard]] std::vector<IndexEntry> DecodeIndex(std::span<const std::byte> bytes);

// Why an index cannot be one of a segment that starts at `start_offset`, or "": the first entry is
// (start, 0), and both offsets and positions rise strictly.
[[nodiscard]] std::string_view IndexContradiction(std::span<const IndexEntry> entries,
                                                  std::uint64_t start_offset);

// Appends to an index file. Saving and making durable are apart: the barrier comes before a
// checkpoint may forget what the index describes, and when the segment is sealed, and it must come
// through this writer, which alone hears of a failed writeback. Not thread safe.
class IndexWriter {
 public:
  // `file` must outlive the writer and holds `bytes` bytes of whole entries.
  // Errors: kDamaged when the file has another size.
  [[nodiscard]] static Result<IndexWriter> Open(File& file, std::uint64_t bytes);

  void Add(const IndexEntry& entry) { pending_.push_back(entry); }
  // Writes what was added. After a failure the same entries are written again next time.
  [[nodiscard]] Status Save();
  // Saves, and syncs if anything was saved since the last barrier.
  [[nodiscard]] Status Barrier();

  [[nodiscard]] std::uint64_t saved_bytes() const { return cursor_; }

 private:
  IndexWriter(File& file, std::uint64_t bytes) : file_(&file), cursor_(bytes) {}

  File* file_;
  std::uint64_t cursor_;
  std::vector<IndexEntry> pending_;
  bool unsynced_ = false;
};

}  // namespace tornfs::journal
