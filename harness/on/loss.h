// What a crash image has and has not of the block writes that the filesystem had asked for.
#pragma once

#include <cstddef>
#include <cstdint>

#include "harness/device/crash_images.h"
#include "harness/on/campaign.h"

namespace tornfs::harness {

struct BlockLoss {
  std::size_t flushes = 0;  // Answered before the crash.
  std::size_t durable = 0;  // Writes that the last of them covers.
  std::size_t open = 0;     // Others that had been issued; of these
  std::size_t lost = 0;     // were lost, all of them or, of `torn`, a part.
  std::size_t torn = 0;
  std::uint64_t lost_bytes = 0;
};

[[nodiscard]] BlockLoss LossOf(const OnRecording& recording, const CrashImage& image);

}  // namespace tornfs::harness
