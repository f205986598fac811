#include "harness/device/image_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <span>
#include <vector>

#include "common/fd.h"
#include "harness/device/filesystem.h"

namespace tornfs::harness {

Status WriteImageFile(const std::string& path, const DeviceImage& image) {
  auto file = OpenFile(path, O_WRONLY | O_CREAT | O_TRUNC);
  if (!file) return tl::make_unexpected(file.error());
  if (::ftruncate(file->get(), static_cast<off_t>(image.size())) != 0) {
    return IoError(errno, "ftruncate " + path);
  }
  // As far as the filesystem goes, with the fill: a hole would read as zeros.
  std::uint64_t end = 0;
  image.ForEachBlock([&](std::uint64_t offset, std::span<const std::byte>) {
    end = offset + DeviceImage::kBlockBytes;
  });
  std::vector<std::byte> part(DeviceImage::kBlockBytes);
  for (std::uint64_t at = 0; at < end; at += part.size()) {
    image.Read(at, part);
    const Status written = WriteAll(file->get(), part);
    if (!written) return written;
  }
  return {};
}

Result<DeviceImage> ReadImageFile(const std::string& path) {
  auto file = OpenFile(path, O_RDONLY);
  if (!file) return tl::make_unexpected(file.error());
  DeviceImage image(kDeviceBytes);
  std::vector<std::byte> block(DeviceImage::kBlockBytes);
  // Only what was written is in the file; holes are the fill again.
  for (off_t data = ::lseek(file->get(), 0, SEEK_DATA); data >= 0;) {
    const off_t hole = ::lseek(file->get(), data, SEEK_HOLE);
    for (off_t at = data; at < hole; at += static_cast<off_t>(block.size())) {
      if (::pread(file->get(), block.data(), block.size(), at) !=
          static_cast<ssize_t>(block.size())) {
        return Fail(ErrorCode::kCorrupt, path + ": cut short");
      }
      image.Write(static_cast<std::uint64_t>(at), block);
    }
    data = ::lseek(file->get(), hole, SEEK_DATA);
  }
  return image;
}

}  // namespace tornfs::harness
