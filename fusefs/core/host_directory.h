// Calls on open host directories that import and export share.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/fd.h"
#include "common/result.h"

namespace tornfs {

// openat(2) of one name, never through a symbolic link. `path` is for the error only.
[[nodiscard]] Result<Fd> OpenAt(int dir, const std::string& name, int flags, unsigned mode,
                                const std::string& path);

// The names in a directory without "." and "..", sorted by bytes.
[[nodiscard]] Result<std::vector<std::string>> NamesIn(int dir, const std::string& path);

// A path that leads to `name` in the open directory `fd`; calls that do not follow links stay
// there.
[[nodiscard]] std::string DescriptorPath(int fd, const std::string& name);

// The extended attributes of `path`, which is not followed, that a filesystem of ours can hold: of
// user and trusted, security.capability, and ACLs. None where the host has none.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> HostXattrs(const std::string& path);

}  // namespace tornfs
