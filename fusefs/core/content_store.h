// ContentStore: append-only storage for the bytes of files. Everything a program ever wrote stays
// at its position until the store goes, so extents, snapshots and crash states refer to bytes by
// position and never copy them.
//
// Memory is taken in chunks of kChunkBytes. Without a directory a chunk is anonymous memory with
// huge pages asked for (the first touch of a small page costs more than everything else a write
// does). With a directory a chunk is a mapping of an unlinked file there, and chunks that are full
// are dropped from resident memory when `memory_limit` is passed; reading them brings them back.
//
// Threads: one writer; readers of bytes already appended need no lock. fork() shares content.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/fd.h"
#include "common/result.h"
#include "fusefs/core/errno.h"

namespace tornfs {

// Where appended bytes start. kZeros stands for bytes that are all zero and stored nowhere.
using ContentPosition = std::uint64_t;
inline constexpr ContentPosition kZeros = UINT64_MAX;

class ContentStore {
 public:
  static constexpr std::uint64_t kChunkBytes = 64ULL << 20;
  static constexpr std::size_t kMaxChunks = 1U << 16;  // 4 TiB.
  // A page of kStaleByte, in every store: what stands for bytes that a disk held before.
  static constexpr ContentPosition kStale = 0;
  static constexpr std::byte kStaleByte{0xDB};

  struct Options {
    std::string directory;  // Empty: memory only.
    std::uint64_t memory_limit =
        UINT64_MAX;  // Bytes resident with a directory, bytes in all without.
  };

  // Errors: kIo when the directory cannot hold a file.
  [[nodiscard]] static Result<std::unique_ptr<ContentStore>> Open(const Options& options);
  ~ContentStore();
  ContentStore(const ContentStore&) = delete;
  ContentStore& operator=(const ContentStore&) = delete;

  // Stores a copy of `bytes`, contiguously. At most kChunkBytes at a time.
  // Errors: ENOSPC when the limit or the disk is full; the store stays usable.
  [[nodiscard]] Outcome<ContentPosition> Append(std::span<const std::byte> bytes);

  // Bytes [position, position + length) of one append, or of several that followed each other
  // within a chunk. Valid as long as the store.
  [[nodiscard]] const std::byte* At(ContentPosition position) const {
    return chunks_[position / kChunkBytes] + position % kChunkBytes;
  }

  // Bytes appended so far, the unused ends of chunks included.
  [[nodiscard]] std::uint64_t size() const { return end_ - kChunkBytes; }

 private:
  explicit ContentStore(Options options);
  [[nodiscard]] Outcome<void> AddChunk();
  void DropColdChunks();

  Options options_;
  Fd file_;
  std::vector<std::byte*> chunks_;  // The first is the stale page, in static memory.
  std::uint64_t end_ = kChunkBytes;
};

}  // namespace tornfs
