// ContentStore: the bytes of files. What is appended stays at its position until the owner says
// that nothing refers to it any more, so extents, snapshots and crash states refer to bytes by
// position and never copy them.
//
// Memory is taken in chunks of kChunkBytes and touched many pages at a time: the first touch of one
// page by itself costs more than everything else a write does. Huge pages would be cheaper still on
// bare metal, but cost four times as much under a hypervisor that has to supply them
// (docs/benchmarks.md). Chunks that became free are used again, still touched.
//
// With a directory, `memory_limit` bounds by how much the whole process has grown since the store
// was opened: while it is passed, chunks are moved, oldest first, to an unlinked file there, and
// mapped from it at the same address; what reading brought back of them is dropped. Without one it
// bounds the bytes stored. What can be neither moved nor refused may pass it by 32 MiB.
//
// Letting go. The owner, who alone knows what is referred to, marks it and calls Sweep: pages
// without a mark are given back. Whoever reads bytes without being known to the owner (another
// thread with a copy of a tree) has a Hold, and nothing is given back meanwhile.
//
// Threads: one writer; readers of bytes already appended need no lock. fork() shares content; a
// store that has moved chunks to its file is not to be written to by two processes.
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
    std::string directory;                    // Empty: memory only.
    std::uint64_t memory_limit = UINT64_MAX;  // Bytes.
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
  // within a chunk. Valid until they are swept.
  [[nodiscard]] const std::byte* At(ContentPosition position) const {
    return addresses_[position / kChunkBytes] + position % kChunkBytes;
  }

  // To be told of what may make the process grow, such as reads, which bring moved chunks back:
  // keeps to the memory limit.
  void NoteUse(std::uint64_t bytes) { Breathe(bytes); }

  // Bytes held: those referred to at the last sweep and all appended since, unused ends included.
  [[nodiscard]] std::uint64_t size() const;
  // Of them, bytes in the file of the directory.
  [[nodiscard]] std::uint64_t moved() const;
  // Memory is short and nothing here can be moved or dropped: time to make no more demands on it.
  [[nodiscard]] bool tight() const { return tight_; }
  [[nodiscard]] const Options& options() const { return options_; }

  // Pages that are referred to.
  class Marks {
   public:
    void Mark(ContentPosition position, std::uint64_t length);

   private:
    friend class ContentStore;
    [[nodiscard]] bool Has(std::size_t page) const {
      return page / 64 < words_.size() && (words_[page / 64] >> (page % 64) & 1) != 0;
    }
    std::vector<std::uint64_t> words_;
  };

  // Whether so much was appended since the last sweep that one pays.
  [[nodiscard]] bool sweep_due() const { return appended_ >= sweep_after_ && holds_ == 0; }
  // Gives back every page that `marks` leaves out. With a Hold out, does nothing.
  void Sweep(const Marks& marks);

  class Hold {
   public:
    explicit Hold(ContentStore& store) : store_(store) { ++store_.holds_; }
    ~Hold() { --store_.holds_; }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    ContentStore& store_;
  };

 private:
  struct Chunk {
    std::vector<bool> held;  // By page; empty: none, and no memory.
    std::size_t pages = 0;   // How many of them.
    bool moved = false;      // Mapped from the file, at its number's place.
  };

  explicit ContentStore(Options options);
  [[nodiscard]] Outcome<void> NextChunk();
  [[nodiscard]] std::byte* NewMemory();
  void TouchAhead(std::uint64_t end);
  void CloseChunk();
  void SweepChunk(std::size_t number, const Marks& marks);
  void Release(std::size_t number);
  void GiveBack(std::size_t number, std::size_t first_page, std::size_t end_page);
  // Keeps to the limit, now and then.
  void Breathe(std::uint64_t bytes);
  void Relieve();
  // What the process has taken since the store was opened.
  [[nodiscard]] std::uint64_t Resident() const;
  [[nodiscard]] bool Move(std::size_t number);
  void DropMoved();

  Options options_;
  Fd file_;
  std::vector<std::byte*> addresses_;  // By chunk; the first is the stale page, in static memory.
  std::vector<Chunk> chunks_;
  std::vector<std::size_t> free_;  // Numbers of chunks without memory.
  std::vector<std::byte*> spare_;  // Touched memory that belongs to no chunk.
  std::size_t current_ = SIZE_MAX;
  std::uint64_t used_ = kChunkBytes;  // Of the current chunk.
  std::uint64_t touched_ = 0;         // Of it, from its start, a multiple of a page.
  std::uint64_t held_pages_ = 0;      // Of the other chunks.
  std::uint64_t moved_pages_ = 0;
  std::uint64_t appended_ = 0;  // Since the last sweep.
  std::uint64_t sweep_after_ = kChunkBytes;
  std::uint64_t traffic_ = 0;  // Since the last look at the memory.
  std::uint64_t first_resident_ = 0;
  int holds_ = 0;
  bool tight_ = false;
};

}  // namespace tornfs
