// ContentRanges: which bytes of a store a trace takes along, and where they end up.
//
// Ranges that overlap or touch become one, within a chunk of the store, so bytes referred to many
// times are written once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fusefs/core/content_store.h"
#include "fusefs/core/extent_map.h"

namespace tornfs::trace {

class ContentRanges {
 public:
  struct Range {
    ContentPosition position = 0;
    std::uint64_t length = 0;
    std::uint64_t place = 0;  // Where it starts among the contents of the trace.
  };

  void Add(ContentPosition position, std::uint64_t length);
  void Add(const ExtentMap& extents);
  // Merges what was added. Only then:
  void Seal();
  [[nodiscard]] std::span<const Range> ranges() const { return ranges_; }
  // The place of stored bytes that were added.
  [[nodiscard]] std::uint64_t Place(ContentPosition position, std::uint64_t length) const;

 private:
  std::vector<Range> ranges_;
};

}  // namespace tornfs::trace
