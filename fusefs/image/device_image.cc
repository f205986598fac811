#include "fusefs/image/device_image.h"

#include <algorithm>
#include <cstring>

#include "common/check.h"

namespace tornfs {
namespace {

// Calls `visit(block, offset in it, position in the range, length)` for the parts of a range.
template <class Visit>
void ForEachPart(std::uint64_t offset, std::size_t length, Visit visit) {
  std::size_t done = 0;
  while (done < length) {
    const std::uint64_t at = offset + done;
    const auto inside = static_cast<std::size_t>(at % DeviceImage::kBlockBytes);
    const std::size_t part = std::min(DeviceImage::kBlockBytes - inside, length - done);
    visit(at / DeviceImage::kBlockBytes, inside, done, part);
    done += part;
  }
}

}  // namespace

void DeviceImage::Read(std::uint64_t offset, std::span<std::byte> into) const {
  CHECK(offset <= size_ && into.size() <= size_ - offset);
  ForEachPart(offset, into.size(),
              [&](std::uint64_t block, std::size_t inside, std::size_t done, std::size_t part) {
                const auto* found = blocks_.Find(block);
                if (found == nullptr) {
                  std::fill_n(into.begin() + static_cast<std::ptrdiff_t>(done), part, kFill);
                } else {
                  std::memcpy(into.data() + done, (*found)->data() + inside, part);
                }
              });
}

void DeviceImage::Write(std::uint64_t offset, std::span<const std::byte> from) {
  CHECK(offset <= size_ && from.size() <= size_ - offset);
  // mkfs clears whole logs; all those blocks are one.
  static const auto kZeros = std::make_shared<Block>();
  ForEachPart(offset, from.size(),
              [&](std::uint64_t block, std::size_t inside, std::size_t done, std::size_t part) {
                const std::byte* bytes = from.data() + done;
                if (part == kBlockBytes && std::memcmp(bytes, kZeros->data(), part) == 0) {
                  blocks_.Set(block, kZeros);
                } else {
                  std::memcpy(Own(block).data() + inside, bytes, part);
                }
              });
}

DeviceImage::Block& DeviceImage::Own(std::uint64_t number) {
  // FindMutable copies what other maps share, and with it the references: a count of one is ours.
  auto* found = blocks_.FindMutable(number);
  if (found == nullptr) {
    auto fresh = std::make_shared<Block>();
    fresh->fill(kFill);
    blocks_.Set(number, std::move(fresh));
    found = blocks_.FindMutable(number);
  } else if (found->use_count() > 1) {
    *found = std::make_shared<Block>(**found);
  }
  return **found;
}

void DeviceImage::ForEachBlock(
    const std::function<void(std::uint64_t, std::span<const std::byte>)>& visit) const {
  for (auto cursor = blocks_.Begin(); cursor.valid(); cursor.Next()) {
    visit(cursor.key() * kBlockBytes, *cursor.value());
  }
}

}  // namespace tornfs
