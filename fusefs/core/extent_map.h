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

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fusefs/core/content_store.h"
#include "fusefs/core/persistent_map.h"
#include "fusefs/core/types.h"

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

  // Calls visit(offset, length, position) for each piece of [offset, offset + length) in order;
  // holes have position kZeros.
  template <class Visit>
  void ForEach(std::uint64_t offset, std::uint64_t length, Visit&& visit) const;

  // Calls visit(offset, before, after) for each extent that is not the same in both maps: `before`
  // is null where only this map has one at that offset, `after` where only the other has.
  template <class Visit>
  void ForEachChange(const ExtentMap& before, Visit&& visit) const {
    const auto same = [](const Extent& a, const Extent& b) {
      return a.length == b.length && a.position == b.position;
    };
    extents_.ForEachChange(before.extents_, same, visit);
  }

  // First offset >= `offset` that lies in an extent / in no extent. UINT64_MAX if there is none.
  [[nodiscard]] std::uint64_t NextData(std::uint64_t offset) const;
  [[nodiscard]] std::uint64_t NextHole(std::uint64_t offset) const;

  // Bytes covered by extents.
  [[nodiscard]] std::uint64_t allocated() const { return allocated_; }
  // Pages that hold such bytes.
  [[nodiscard]] std::uint64_t pages() const { return pages_; }

 private:
  void Clear(std::uint64_t begin, std::uint64_t end);
  // Pages with data that overlap [begin, end).
  [[nodiscard]] std::uint64_t PagesIn(std::uint64_t begin, std::uint64_t end) const;

  PersistentMap<std::uint64_t, Extent> extents_;  // By offset.
  std::uint64_t allocated_ = 0;
  std::uint64_t pages_ = 0;
};

template <class Visit>
void ExtentMap::ForEach(std::uint64_t offset, std::uint64_t length, Visit&& visit) const {
  const std::uint64_t end = offset + length;
  auto cursor = extents_.Floor(offset);
  if (!cursor.valid()) cursor = extents_.Begin();
  for (; offset < end && cursor.valid(); cursor.Next()) {
    const std::uint64_t begin = cursor.key();
    const Extent& extent = cursor.value();
    if (begin + extent.length <= offset) continue;
    if (begin >= end) break;
    if (begin > offset) visit(offset, begin - offset, kZeros);
    offset = std::max(offset, begin);
    const std::uint64_t n = std::min(begin + extent.length, end) - offset;
    visit(offset, n, extent.position + (offset - begin));
    offset += n;
  }
  if (offset < end) visit(offset, end - offset, kZeros);
}

}  // namespace tornfs
