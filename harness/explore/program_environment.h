// What programs under test find in their environment: the caller's, and what is ours.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tornfs::harness {

struct ProgramPlace {
  std::string mount;   // TORNFS_MOUNT.
  std::string origin;  // TORNFS_ORIGIN.
  std::uint64_t seed = 1;
  std::string promises;  // TORNFS_PROMISES; empty: none.
};

// "NAME=value" each. Variables of that kind that the caller has are left out.
[[nodiscard]] std::vector<std::string> ProgramEnvironment(const ProgramPlace& place);

}  // namespace tornfs::harness
