// A device's content as a file that `mount -o loop` takes.
#pragma once

#include <string>

#include "common/result.h"
#include "fusefs/image/device_image.h"

namespace tornfs::harness {

// As far as anything was ever written, with the fill; the rest up to its size is a hole.
// Errors: kIo.
[[nodiscard]] Status WriteImageFile(const std::string& path, const DeviceImage& image);

// What WriteImageFile() wrote, as a device of kDeviceBytes. Errors: kCorrupt, kIo.
[[nodiscard]] Result<DeviceImage> ReadImageFile(const std::string& path);

}  // namespace tornfs::harness
