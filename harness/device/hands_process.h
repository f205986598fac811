// The other side of Hands (hands.h): what the process does.
//
// Messages are JSON objects on a SOCK_SEQPACKET socket. A request has a key `do`; the answer is
// {"ok": true, ...} or {"error": CODE, "errno": N, "text": ...}. While steps run, {"before": N} and
// {"after": N} come first, each to be answered by an empty object before the process goes on.
#pragma once

#include <string>

#include "common/fd.h"

namespace tornfs::harness {

// Serves requests until the other side closes; cleans up. To be called right after fork.
void RunHands(Fd socket, const std::string& mount_point);

}  // namespace tornfs::harness
