// Messages over Unix sockets that may carry one descriptor.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include "common/fd.h"

namespace tornfs::harness {

// Sends `bytes`, and `fd` with them unless it is -1; never waits, never raises SIGPIPE.
// Returns what sendmsg(2) does.
[[nodiscard]] ssize_t SendWithFd(int socket, iovec bytes, int fd);

// Receives into `bytes`; `received` takes the descriptor if one came. Retries EINTR.
// Returns what recvmsg(2) does.
[[nodiscard]] ssize_t ReceiveWithFd(int socket, iovec bytes, Fd* received);

}  // namespace tornfs::harness
