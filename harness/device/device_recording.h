// DeviceRecording: what a device held, and what it was asked to do from then on.
#pragma once

#include "fusefs/image/device_image.h"
#include "fusefs/image/io_log.h"

namespace tornfs::harness {

struct DeviceRecording {
  DeviceImage base;
  // Requests, and marks between them: 2i when step i of a program begins, 2i + 1 when it has
  // returned. Promises have marks of the second kind alone.
  IoLog log;
};

}  // namespace tornfs::harness
