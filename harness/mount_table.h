// /proc/self/mountinfo, read properly (proc(5)): octal escapes undone, optional fields skipped.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace tornfs::harness {

struct MountEntry {
  dev_t device = 0;     // st_dev of the files on it.
  std::string root;     // The part of the filesystem that is mounted, "/" for all of it.
  std::string point;    // Where, as this process sees it.
  std::string options;  // Per mount: "rw,nosuid,...".
  std::string type;     // "ext4", "fuse.tornfs", "cgroup2".
  std::string source;
};

// Lines that do not have the documented shape are left out. In table order: the last entry of a
// path is the one on top.
[[nodiscard]] std::vector<MountEntry> ParseMountTable(std::string_view text);

// Errors: kIo. Never waits for a mounted filesystem.
[[nodiscard]] Result<std::vector<MountEntry>> ReadMountTable();

}  // namespace tornfs::harness
