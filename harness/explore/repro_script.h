// repro.sh of a finding: puts the tree that the crash left to recovery and check, without tornfs.
//
// Commands are completed by the rules of harness/command_line.h, with stand-ins for the paths that
// only the script knows; it puts those in when it runs.
#pragma once

#include <string>

#include "harness/explore/spec.h"

namespace tornfs::harness {

// The text of a script for /bin/sh that stands beside after/ and promises.txt.
[[nodiscard]] std::string ReproScript(const std::string& finding_id, const ExploreSpec& spec);

}  // namespace tornfs::harness
