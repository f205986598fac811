// DeviceImage: what a block device holds, as a value.
//
// Blocks of 4 KiB in a persistent map, so a copy costs nothing and a crash image is a copy of the
// base plus the writes that were chosen; nothing is ever rewritten or copied whole. What was never
// written reads as kFill, a byte that no program under test writes: a filesystem that shows blocks
// it never wrote can be told from one that shows zeros.
//
// Positions and lengths are in bytes. Threads: one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "fusefs/core/persistent_map.h"

namespace tornfs {

class DeviceImage {
 public:
  static constexpr std::size_t kBlockBytes = 4096;
  static constexpr std::size_t kSectorBytes = 512;
  static constexpr std::byte kFill{0xD7};

  explicit DeviceImage(std::uint64_t size) : size_(size) {}

  [[nodiscard]] std::uint64_t size() const { return size_; }
  // Blocks that were ever written.
  [[nodiscard]] std::size_t blocks() const { return blocks_.size(); }

  // Requires that the range lies in the device.
  void Read(std::uint64_t offset, std::span<std::byte> into) const;
  void Write(std::uint64_t offset, std::span<const std::byte> from);

  // Calls `visit` for every block that was ever written, in order.
  void ForEachBlock(
      const std::function<void(std::uint64_t offset, std::span<const std::byte>)>& visit) const;

 private:
  using Block = std::array<std::byte, kBlockBytes>;
  // The content of one block, owned by this image alone and ready to be changed.
  Block& Own(std::uint64_t number);

  std::uint64_t size_;
  PersistentMap<std::uint64_t, std::shared_ptr<Block>> blocks_;
};

}  // namespace tornfs
