// RequestExtras: what the kernel says in a request and libfuse 3.14 does not pass on, and requests
// newer than libfuse in the form of older ones that it knows.
//
// Two features are negotiated behind its back (GreetingFlags):
//   FUSE_HANDLE_KILLPRIV_V2   set-id bits and security.capability are cleared here, as the kernel
//                             asks for it; it then need not ask for security.capability at every
//                             write(2)
//   FUSE_SETXATTR_EXT         setting an ACL says whether the set-group-id bit goes
#pragma once

#include <cstdint>

#include "fusefs/fuse/lowlevel.h"

namespace tornfs {

struct RequestExtras {
  bool clears_set_id = false;  // Caller::clears_set_id.
  bool unnamed = false;        // A CREATE that is a TMPFILE.
};

// Of the INIT flags that the kernel offers in `buffer`, those to be answered beside libfuse's.
[[nodiscard]] std::uint32_t GreetingFlags(const fuse_buf& buffer);

// Reads what libfuse would drop and rewrites what it would not understand. `greeting` are the flags
// that were negotiated. Requires a whole request.
[[nodiscard]] RequestExtras TakeExtras(fuse_buf& buffer, std::uint32_t greeting);

}  // namespace tornfs
