// Calls on open host directories that import and export share.
#pragma once

#include <string>
#include <vector>

#include "common/fd.h"
#include "common/result.h"

namespace tornfs {

// openat(2) of one name, never through a symbolic link. `path` is for the error only.
[[nodiscard]] Result<Fd> OpenAt(int dir, const std::string& name, int flags, unsigned mode,
                                const std::string& path);

// The names in a directory without "." and "..", sorted by bytes.
[[nodiscard]] Result<std::vector<std::string>> NamesIn(int dir, const std::string& path);

}  // namespace tornfs
