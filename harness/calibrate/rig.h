// Rig: a device that can be recorded and crashed, with a real filesystem on it.
//
//   Rig.Record()   runs a program on a new filesystem and keeps what the device was asked to do
//   Rig.Look()     puts a crash image into the device, mounts it and reads the tree
//
// Threads: one; a process has one rig, in a private mount namespace of its own.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "common/result.h"
#include "fusefs/fuse/event_loop.h"
#include "harness/calibrate/program.h"
#include "harness/device/device_recording.h"
#include "harness/device/disk.h"
#include "harness/device/filesystem.h"
#include "harness/device/schedule.h"

namespace tornfs::harness {

class Rig {
 public:
  // `folder` is empty and this process's own; `id` tells rigs of one machine apart, for
  // filesystems that refuse to be mounted twice. Errors: kMissing, kIo.
  [[nodiscard]] static Result<std::unique_ptr<Rig>> Create(const std::string& folder, unsigned id);
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;

  // Errors: kIo, with the step that failed.
  [[nodiscard]] Result<DeviceRecording> Record(const Filesystem& filesystem,
                                               const CalibrationProgram& program,
                                               Schedule schedule);
  // Errors: kCorrupt if it cannot be mounted or read; kIo.
  [[nodiscard]] Result<std::string> Look(const Filesystem& filesystem, DeviceImage image);

 private:
  Rig() = default;
  // A new filesystem, made once and copied.
  [[nodiscard]] Result<DeviceImage> Template(const Filesystem& filesystem);
  [[nodiscard]] Status RunRecorded(const Filesystem& filesystem, const CalibrationProgram& program,
                                   Schedule schedule);

  std::unique_ptr<EventLoop> loop_;
  std::unique_ptr<Disk> disk_;
  std::map<std::string, DeviceImage> templates_;
};

}  // namespace tornfs::harness
