// The user a program under test runs as (--user NAME).
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "common/result.h"

namespace tornfs::harness {

struct Identity {
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;  // Supplementary groups; replaces the caller's.
};

// A name or a decimal uid known to the user database. Errors: kNotFound.
[[nodiscard]] Result<Identity> LookUpUser(const std::string& name);

}  // namespace tornfs::harness
