// CompareTrees: whether two directories hold the same, byte for byte.
#pragma once

#include <string>

namespace tornfs {

// Compares names, types, modes, owners, links, sizes, contents, link targets, device numbers and
// extended attributes below two directories. Returns the first difference, or nothing. Left out are
// the sizes and link counts of what only one filesystem counts: sizes of directories.
[[nodiscard]] std::string CompareTrees(const std::string& one, const std::string& other);

}  // namespace tornfs
