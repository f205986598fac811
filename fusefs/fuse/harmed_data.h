// Data that a fault has been at (fault_hook.h): what a harmed write stores and a harmed read
// returns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "fusefs/fuse/fault_hook.h"
#include "fusefs/fuse/mount_context.h"

namespace tornfs {

class HarmedWrite {
 public:
  // Without a fault, or with one that does not concern data, nothing is copied. `data` must outlive
  // this.
  HarmedWrite(std::uint64_t offset, std::span<const std::byte> data,
              const std::optional<Fault>& fault);
  HarmedWrite(const HarmedWrite&) = delete;
  HarmedWrite& operator=(const HarmedWrite&) = delete;

  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  // The program is told of fewer bytes than it gave.
  [[nodiscard]] bool is_short() const { return short_; }

 private:
  std::uint64_t offset_;
  std::span<const std::byte> bytes_;
  std::vector<std::byte> copy_;
  bool short_ = false;
};

// What context.pieces hold, with the fault in it. In context.buffer, like any text of a reply.
[[nodiscard]] std::string_view HarmedRead(MountContext& context, const Fault& fault);

}  // namespace tornfs
