// Rig: a device that can be recorded and crashed, with a real filesystem on it.
//
//   Rig.Record()   runs a program on a new filesystem and keeps what the device was asked to do
//   Rig.Look()     puts a crash image into the device, mounts it and reads the tree
//
// Threads: one; a process has one rig, in a private mount namespace of its own.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "common/result.h"
#include "fusefs/fuse/event_loop.h"
#include "fusefs/image/image_server.h"
#include "harness/calibrate/filesystem.h"
#include "harness/calibrate/hands.h"
#include "harness/calibrate/program.h"
#include "harness/calibrate/schedule.h"

namespace tornfs::harness {

// One run of a program.
struct Recording {
  DeviceImage base;  // When `setup` was synced.
  // Requests since, and marks: 2i when main step i begins, 2i + 1 when it has returned.
  IoLog log;
};

class Rig {
 public:
  // `folder` is empty and this process's own; `id` tells rigs of one machine apart, for
  // filesystems that refuse to be mounted twice. Errors: kMissing, kIo.
  [[nodiscard]] static Result<std::unique_ptr<Rig>> Create(const std::string& folder, unsigned id);
  // Frees the device and the mounts.
  ~Rig();
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;

  // Errors: kIo, with the step that failed.
  [[nodiscard]] Result<Recording> Record(const Filesystem& filesystem,
                                         const CalibrationProgram& program, Schedule schedule);
  // Errors: kCorrupt if it cannot be mounted or read; kIo.
  [[nodiscard]] Result<std::string> Look(const Filesystem& filesystem, DeviceImage image);

 private:
  Rig() = default;
  // A new filesystem, made once and copied.
  [[nodiscard]] Result<DeviceImage> Template(const Filesystem& filesystem);
  [[nodiscard]] Status RunRecorded(const Filesystem& filesystem, const CalibrationProgram& program,
                                   Schedule schedule);

  unsigned id_ = 0;
  std::unique_ptr<EventLoop> loop_;
  std::unique_ptr<Hands> hands_;  // Goes before the server that answers it.
  std::unique_ptr<ImageServer> server_;
  std::map<std::string, DeviceImage> templates_;
};

}  // namespace tornfs::harness
