// Crash images: what the device of a recording may hold after a power loss.
//
// Between two flushes lies a window. At its start everything that an earlier flush covers is
// durable; the writes issued since, and those that were in flight when that flush came, are each
// there or not. Sets of them are tried: all of a window with up to kAllMost writes; of a larger one
// none, all, every prefix, every write alone, all but one; then the last write of a prefix torn,
// and seeded random sets, torn ones among them. Writes are applied in the order issued.
//
// A write is torn at sectors. The first block of the filesystem is never torn: it is made to be
// written whole. Blocks that hold nothing but letters and NULs are taken for data of the program
// and torn only where its model tears: at 4096 bytes, or at sectors too.
//
// Images with equal content are one image; it keeps all the moments at which it is possible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/hash.h"
#include "common/result.h"
#include "harness/device/device_recording.h"
#include "harness/device/filesystem.h"

namespace tornfs::harness {

// Part of a write that reached the device.
struct ChosenWrite {
  std::size_t event = 0;      // Index in the log.
  std::vector<bool> sectors;  // Empty: all of it.
};

// From when to when in the program a crash can leave an image: how many main steps had begun.
struct Moments {
  std::size_t first_begun = 0;
  std::size_t last_begun = 0;
  std::size_t last_ended = 0;  // Steps that had returned at the last moment.
  friend auto operator<=>(const Moments&, const Moments&) = default;
};

// Stands for an event where no flush has been answered.
inline constexpr std::size_t kNoFlush = SIZE_MAX;

struct CrashImage {
  Digest digest;                    // Of the content, as a difference from the base.
  std::size_t flush = kNoFlush;     // The last flush answered: what it covers is durable.
  std::vector<ChosenWrite> writes;  // Of the others those that are there, in the order issued.
  // The crash came before this, as a time of the log; where an image is possible at several places,
  // that of the first found.
  std::uint64_t until = IoEvent::kNever;
  std::vector<Moments> moments;
  bool torn = false;
};

struct ImageLimits {
  std::size_t images = 200;  // At most so many; a random choice among those of a larger set.
  std::uint64_t seed = 1;
  bool data_in_sectors = false;
  // A mark ends a window, too: a crash just before it is tried. Equal content is one image then
  // only where as many steps have returned.
  bool at_marks = false;
};

struct CrashImages {
  std::vector<CrashImage> images;
  std::uint64_t equal = 0;  // Choices whose image was there already.
  std::size_t windows = 0;
};

// Deterministic in all arguments. Of more windows than images are wanted as many are left, by
// chance. Cost: of each window, in proportion to all sectors written before it.
[[nodiscard]] CrashImages PlanCrashImages(const DeviceRecording& recording,
                                          const Filesystem& filesystem, const ImageLimits& limits);

// All writes that are in an image, in the order issued, the durable ones among them.
[[nodiscard]] std::vector<ChosenWrite> WritesOf(const DeviceRecording& recording,
                                                const CrashImage& image);

// The device with everything that it was asked to write.
[[nodiscard]] DeviceImage FinalImage(const DeviceRecording& recording);

// The device after the crash.
[[nodiscard]] DeviceImage BuildImage(const DeviceRecording& recording, const CrashImage& image);

}  // namespace tornfs::harness
