// ImageServer: one file on a FUSE mount that is a block device's content, for a loop device to be
// put on. It answers every request of the kernel, keeps the order of writes and flushes, and can
// be slow on purpose.
//
// With direct I/O on the loop device each block write is one WRITE and each flush one FSYNC. The
// loop driver has no forced unit access: the kernel sends such a write as the write and a flush
// behind it, so the log shows the two.
//
// A second file takes what a program prints: each line that is complete gets its mark among the
// requests before the program's write(2) returns.
//
// Threads: the loop's. Whoever uses the mount or the device must be another process, and one
// without a copy of the FUSE descriptor: then it is freed when this process dies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/fd.h"
#include "common/result.h"
#include "fusefs/fuse/event_loop.h"
#include "fusefs/fuse/lowlevel.h"
#include "fusefs/image/device_image.h"
#include "fusefs/image/io_log.h"

namespace tornfs {

class ImageServer {
 public:
  // Mounts on `folder` a filesystem with the two files, the device's `size` bytes long. Errors:
  // kMissing without /dev/fuse or without the right to mount; kIo.
  [[nodiscard]] static Result<std::unique_ptr<ImageServer>> Mount(EventLoop& loop,
                                                                  const std::string& folder,
                                                                  std::uint64_t size);
  // Unmounts; a loop device that still has the file open sees I/O errors.
  ~ImageServer();
  ImageServer(const ImageServer&) = delete;
  ImageServer& operator=(const ImageServer&) = delete;

  [[nodiscard]] const std::string& file() const { return file_; }
  // To be opened for writing. Line n, from 0, is marked 2n + 1; lines are counted from StartLog().
  [[nodiscard]] const std::string& output_file() const { return output_file_; }
  // All that was written to it since the last call.
  [[nodiscard]] std::string TakeOutput();

  [[nodiscard]] const DeviceImage& image() const { return image_; }
  // Takes the disk out and puts another in. Requires that nothing is mounted on the device, and
  // the same size; the kernel's cache of the device has to be dropped by the caller (BLKFLSBUF).
  void SetImage(DeviceImage image);

  // From now on requests and marks are logged.
  void StartLog();
  void Mark(std::uint64_t mark);
  // What was logged; writes that are still held stay without completion.
  [[nodiscard]] IoLog StopLog();

  // A slow device: writes are answered only when nothing else arrives for a while, or kHeldMost
  // of them wait; the last one first. Flushes are answered at once and cover none of them.
  void SetSlow(bool slow);

  // Flushes answered so far, logged or not.
  [[nodiscard]] std::uint64_t flushes() const { return flushes_; }

 private:
  static constexpr std::size_t kHeldMost = 64;
  struct Held {
    fuse_req_t request;
    std::size_t size;
    std::size_t event;  // Index in the log, or SIZE_MAX.
  };

  ImageServer(EventLoop& loop, const std::string& folder, std::uint64_t size);
  static const fuse_lowlevel_ops& Operations();
  static ImageServer& Of(fuse_req_t request);
  void Serve();
  void Read(fuse_req_t request, std::size_t size, off_t offset);
  void Write(fuse_req_t request, const char* data, std::size_t size, off_t offset);
  void Flush(fuse_req_t request);
  void Print(fuse_req_t request, const char* data, std::size_t size);
  void ReleaseHeld();
  void ArmTimer();
  [[nodiscard]] struct stat StatOf(fuse_ino_t node) const;

  EventLoop& loop_;
  std::string file_;
  std::string output_file_;
  std::string output_;
  std::uint64_t lines_ = 0;
  DeviceImage image_;
  fuse_session* session_ = nullptr;
  bool mounted_ = false;
  fuse_buf buffer_{};
  std::vector<std::byte> read_buffer_;
  bool logging_ = false;
  bool slow_ = false;
  IoLog log_;
  std::uint64_t clock_ = 0;
  std::uint64_t flushes_ = 0;
  std::vector<Held> held_;
  Fd timer_;
};

}  // namespace tornfs
