// Error and Result<T>: how every function that can fail for a reason outside the program reports
// it.
//
// Rules of use
//   * A function that can fail because of a disk, the kernel, a peer or the user's input returns
//     Result<T>. It never throws and never returns a bare bool or -1.
//   * A condition that only a bug can produce is a CHECK (common/check.h), not an Error.
//   * errno is captured where the system call was made; nobody reads errno later.
//   * fusefs/core answers programs, which know nothing but errno; it has its own, smaller result
//     type (fusefs/core/errno.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace tornfs {

// Stable, machine-readable reason. A code exists only if some caller acts on it; the names appear
// in --json output and on the control socket.
enum class ErrorCode : std::uint8_t {
  kIo = 1,        // A system call failed; `sys_errno` says how.
  kCorrupt = 2,   // Bytes read back do not match their checksum or their format.
  kNotFound = 3,  // The named object does not exist.
  kBusy = 4,      // Another owner holds it; retrying later can succeed.
  kInvalid = 5,   // The request can never succeed as written.
  kTimeout = 6,   // A deadline passed; whether the effect happened is unknown.
  kMissing = 7,   // The machine lacks what is needed (no FUSE, no permission): exit code 77.
};

// "io", "corrupt", ...: the spelling used in JSON.
[[nodiscard]] std::string_view ErrorCodeName(ErrorCode code);

// Why something failed. Copyable, no ownership.
struct Error {
  ErrorCode code = ErrorCode::kIo;
  int sys_errno = 0;    // Positive errno, or 0 when no system call was involved.
  std::string context;  // What was being attempted, e.g. "open j/frontier".

  // One line for a person: the context, then the errno text if there is one.
  [[nodiscard]] std::string Message() const;
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

// An Error from a failed system call. `call_errno` is errno saved right after the call.
[[nodiscard]] inline tl::unexpected<Error> IoError(int call_errno, std::string context) {
  return tl::make_unexpected(Error{ErrorCode::kIo, call_errno, std::move(context)});
}

// An Error without a system call behind it.
[[nodiscard]] inline tl::unexpected<Error> Fail(ErrorCode code, std::string context) {
  return tl::make_unexpected(Error{code, 0, std::move(context)});
}

}  // namespace tornfs
