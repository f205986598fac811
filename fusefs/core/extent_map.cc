#include "fusefs/core/extent_map.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace tornfs {
namespace {

constexpr std::array<std::byte, 65536> kZeroBytes{};

void AddZeros(std::uint64_t length, std::vector<iovec>& out) {
  while (length > 0) {
    const std::uint64_t n = std::min<std::uint64_t>(length, kZeroBytes.size());
    out.push_back({const_cast<std::byte*>(kZeroBytes.data()), n});
    length -= n;
  }
}

}  // namespace

void ExtentMap::Clear(std::uint64_t begin, std::uint64_t end) {
  for (;;) {
    auto cursor = extents_.Floor(end - 1);
    if (!cursor.valid()) return;
    const std::uint64_t offset = cursor.key();
    const Extent extent = cursor.value();
    const std::uint64_t extent_end = offset + extent.length;
    if (extent_end <= begin) return;
    extents_.Erase(offset);
    allocated_ -= extent.length;
    if (extent_end > end) {
      extents_.Set(end, {extent_end - end, extent.position + (end - offset)});
      allocated_ += extent_end - end;
    }
    if (offset < begin) {
      extents_.Set(offset, {begin - offset, extent.position});
      allocated_ += begin - offset;
      return;
    }
  }
}

std::uint64_t ExtentMap::PagesIn(std::uint64_t begin, std::uint64_t end) const {
  std::uint64_t pages = 0;
  std::uint64_t page = begin / kPageBytes;
  const std::uint64_t last = (end - 1) / kPageBytes;
  while (page <= last) {
    const std::uint64_t data = NextData(page * kPageBytes);
    if (data == UINT64_MAX || data / kPageBytes > last) break;
    const std::uint64_t until = std::min((NextHole(data) - 1) / kPageBytes, last);
    pages += until - data / kPageBytes + 1;
    page = until + 1;
  }
  return pages;
}

void ExtentMap::Write(std::uint64_t offset, std::uint64_t length, ContentPosition position) {
  if (length == 0) return;
  pages_ -= PagesIn(offset, offset + length);
  Clear(offset, offset + length);
  if (position == kZeros) {
    // Of the pages at both ends something may be left.
    const std::uint64_t last = (offset + length - 1) / kPageBytes * kPageBytes;
    pages_ += PagesIn(offset, offset + 1);
    if (last > offset) pages_ += PagesIn(last, last + 1);
    return;
  }
  pages_ += (offset + length - 1) / kPageBytes - offset / kPageBytes + 1;
  allocated_ += length;
  if (auto before = extents_.Floor(offset); before.valid()) {
    const Extent& extent = before.value();
    const bool follows = before.key() + extent.length == offset &&
                         extent.position + extent.length == position &&
                         extent.position / ContentStore::kChunkBytes ==
                             (position + length - 1) / ContentStore::kChunkBytes;
    if (follows) {
      extents_.FindMutable(before.key())->length += length;
      return;
    }
  }
  extents_.Set(offset, {length, position});
}

void ExtentMap::Gather(const ContentStore& store, std::uint64_t offset, std::uint64_t length,
                       std::vector<iovec>& out) const {
  ForEach(offset, length, [&](std::uint64_t, std::uint64_t n, ContentPosition position) {
    if (position == kZeros) {
      AddZeros(n, out);
    } else {
      out.push_back({const_cast<std::byte*>(store.At(position)), n});
    }
  });
}

void ExtentMap::Read(const ContentStore& store, std::uint64_t offset,
                     std::span<std::byte> out) const {
  std::vector<iovec> pieces;
  Gather(store, offset, out.size(), pieces);
  std::byte* to = out.data();
  for (const iovec& piece : pieces) {
    std::memcpy(to, piece.iov_base, piece.iov_len);
    to += piece.iov_len;
  }
}

std::uint64_t ExtentMap::NextData(std::uint64_t offset) const {
  auto cursor = extents_.Floor(offset);
  if (cursor.valid() && cursor.key() + cursor.value().length > offset) return offset;
  cursor = extents_.LowerBound(offset);
  return cursor.valid() ? cursor.key() : UINT64_MAX;
}

std::uint64_t ExtentMap::NextHole(std::uint64_t offset) const {
  for (auto cursor = extents_.Floor(offset); cursor.valid(); cursor.Next()) {
    if (cursor.key() > offset || cursor.key() + cursor.value().length <= offset) break;
    offset = cursor.key() + cursor.value().length;
  }
  return offset;
}

}  // namespace tornfs
