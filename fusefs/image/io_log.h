// IoLog: what a filesystem asked of its device, in order.
//
// Times are steps of a counter that all events of one log share. A write that was `completed`
// before a flush was `issued` is durable once that flush is `completed`; a write that was still in
// flight then is not, even if the flush came later. Marks are the caller's, between the requests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace tornfs {

struct IoEvent {
  enum class Kind : std::uint8_t { kWrite, kFlush, kMark };
  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

  Kind kind = Kind::kWrite;
  std::uint64_t issued = 0;
  std::uint64_t completed = kNever;  // kNever: in flight when the log ended. A mark: as issued.
  std::uint64_t offset = 0;          // kWrite.
  std::vector<std::byte> data;       // kWrite.
  std::uint64_t mark = 0;            // kMark.
};

using IoLog = std::vector<IoEvent>;

}  // namespace tornfs
