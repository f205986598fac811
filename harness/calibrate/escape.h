// An escape as a folder, so that whoever doubts it can look: the device after the crash as a file
// that mount(8) takes, and a record of how it came about.
//
//   OUT/escapes/ID/image          sparse; `mount -o loop image DIR` replays the journal
//   OUT/escapes/ID/escape.json    program, filesystem, schedule, writes that survived, tree
#pragma once

#include <string>

#include "common/result.h"
#include "harness/calibrate/calibration.h"
#include "harness/calibrate/rig.h"
#include "harness/device/crash_images.h"

namespace tornfs::harness {

struct EscapeEvidence {
  const Filesystem& filesystem;
  const CalibrationProgram& program;
  Schedule schedule;
  const DeviceRecording& recording;
  const CrashImage& image;
  const std::string& tree;
  const Moments& moments;  // When it is not allowed.
  const AllowedSet& allowed;
};

// Derived from filesystem, program and tree: the same escape has the same id in every run.
[[nodiscard]] std::string EscapeId(const EscapeEvidence& evidence);
// "xfs leaves {f=F[]} of ARVR (schedule F, crash after step 4 `ren t f`), which model xfs forbids".
[[nodiscard]] std::string EscapeSentence(const EscapeEvidence& evidence);
// Errors: kIo.
[[nodiscard]] Status WriteEscape(const std::string& folder, const EscapeEvidence& evidence);

// What `--replay` needs: the disk of a folder that WriteEscape() wrote, how to mount it, and what
// was seen on it. Errors: kNotFound, kCorrupt, kIo.
struct StoredEscape {
  Filesystem filesystem;
  DeviceImage image;
  std::string tree;
  std::string sentence;
};
[[nodiscard]] Result<StoredEscape> ReadEscape(const std::string& folder);

}  // namespace tornfs::harness
