// ExtentMap: which stored bytes lie where in a file. Ranges in no extent are holes and read as
// zeros.
//
// A value: copying costs nothing (fusefs/core/persistent_map.h). Adjacent extents whose bytes
// follow each other in the store are joined, so a log appended to in order stays one extent per
// chunk.
//
// Offsets and lengths are bytes. Cost: O(log n) per extent touched.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fusefs/core/content_store.h"
#include "fusefs/core/persistent_map.h"

namespace tornfs {

struct Extent {
  std::uint64_t length = 0;
  ContentPosition position = 0;
};

class ExtentMap {
 public:
  // Makes [offset, offset + length) refer to the stored bytes at `position`; kZeros makes a hole.
  void Write(std::uint64_t offset, std::uint64_t length, ContentPosition position);

  // Makes everything from `offset` on a hole.
  void Cut(std::uint64_t offset) { Write(offset, UINT64_MAX - offset, kZeros); }

  // Copies [offset, offset + out.size()) with holes as zeros.
  void Read(const ContentStore& store, std::uint64_t offset, std::span<std::byte> out) const;

  // The same as pointers into the store and into a static page of zeros; nothing is copied.
  void Gather(const ContentStore& store, std::uint64_t offset, std::uint64_t length,
              std::vector<iovec>& out) const;

  // First offset >= `offset` that lies in an extent / in no extent. UINT64_MAX if there is none.
  [[nodiscard]] std::uint64_t NextData(std::uint64_t offset) const;
  [[nodiscard]] std::uint64_t NextHole(std::uint64_t offset) const;

  // Bytes covered by extents in [offset, offset + length).
  [[nodiscard]] std::uint64_t Allocated(std::uint64_t offset, std::uint64_t length) const;

  [[nodiscard]] bool empty() const { return extents_.empty(); }

 private:
  void Clear(std::uint64_t begin, std::uint64_t end);

  PersistentMap<std::uint64_t, Extent> extents_;  // By offset.
};

}  // namespace tornfs
