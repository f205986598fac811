#include "fusefs/core/trace_content.h"

#include <algorithm>

#include "common/check.h"

namespace tornfs::trace {

void ContentRanges::Add(ContentPosition position, std::uint64_t length) {
  if (position != kZeros && length > 0) ranges_.push_back({position, length, 0});
}

void ContentRanges::Add(const ExtentMap& extents) {
  extents.ForEachChange({}, [&](std::uint64_t, const Extent*, const Extent* extent) {
    Add(extent->position, extent->length);
  });
}

void ContentRanges::Seal() {
  std::ranges::sort(ranges_, {}, &Range::position);
  std::vector<Range> merged;
  for (const Range& range : ranges_) {
    if (!merged.empty()) {
      Range& last = merged.back();
      const std::uint64_t end = range.position + range.length;
      const bool one_chunk =
          last.position / ContentStore::kChunkBytes == (end - 1) / ContentStore::kChunkBytes;
      if (range.position <= last.position + last.length && one_chunk) {
        last.length = std::max(last.length, end - last.position);
        continue;
      }
    }
    merged.push_back(range);
  }
  std::uint64_t place = 0;
  for (Range& range : merged) {
    range.place = place;
    place += range.length;
  }
  ranges_ = std::move(merged);
}

std::uint64_t ContentRanges::Place(ContentPosition position, std::uint64_t length) const {
  const auto after = std::ranges::upper_bound(ranges_, position, {}, &Range::position);
  CHECK(after != ranges_.begin());
  const Range& range = *std::prev(after);
  CHECK(position + length <= range.position + range.length);
  return range.place + (position - range.position);
}

}  // namespace tornfs::trace
