// Disk: a device that can be recorded and crashed, and the hands that mount on it.
//
// Threads: one; a process has one disk, in a private mount namespace of its own.
#pragma once

#include <memory>
#include <string>

#include "common/result.h"
#include "fusefs/fuse/event_loop.h"
#include "fusefs/image/image_server.h"
#include "harness/device/filesystem.h"
#include "harness/device/hands.h"
#include "harness/device/schedule.h"

namespace tornfs::harness {

class Disk {
 public:
  // `folder` is this process's own; the device is served in its subfolder disk/ and filesystems are
  // mounted on mnt/. `id` tells disks of one machine apart, for filesystems that refuse to be
  // mounted twice. Errors: kMissing, kIo.
  [[nodiscard]] static Result<std::unique_ptr<Disk>> Create(EventLoop& loop,
                                                            const std::string& folder, unsigned id);
  // Frees the device and the mounts.
  ~Disk();
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;

  [[nodiscard]] Hands& hands() { return *hands_; }
  [[nodiscard]] ImageServer& server() { return *server_; }
  // Where Hands::Mount() mounts.
  [[nodiscard]] const std::string& mount_point() const { return mount_point_; }

  // A new filesystem, as the device that holds it. Errors: kIo with what mkfs said.
  [[nodiscard]] Result<DeviceImage> Make(const Filesystem& filesystem);

  // What `schedule` does behind a program, and syncfs(2) in the end; `flushes` had been answered
  // when the program began. Errors: kIo.
  [[nodiscard]] Status Finish(const Filesystem& filesystem, Schedule schedule,
                              std::uint64_t flushes);

 private:
  Disk(EventLoop& loop, std::string mount_point, unsigned id)
      : loop_(loop), mount_point_(std::move(mount_point)), id_(id) {}

  EventLoop& loop_;
  std::string mount_point_;
  unsigned id_;
  std::unique_ptr<Hands> hands_;  // Goes before the server that answers it.
  std::unique_ptr<ImageServer> server_;
};

}  // namespace tornfs::harness
