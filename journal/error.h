// Error and Result<T> of the journal: a kind for every reaction a caller has, and a sentence for a
// person.
//
// The journal has its own kinds (and not those of common/result.h) because a caller must tell
// "cannot read" from "is damaged": the first is retried or moved to another disk, the second is
// rebuilt from somewhere else, and neither may be guessed from an errno.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

#include "common/result.h"

namespace tornfs::journal {

// Stable; the names appear in --json output.
enum class ErrorKind : std::uint8_t {
  kIo,           // A storage call failed; `sys_errno` says how. Nothing is known about the data.
  kDamaged,      // What is on disk is not what a journal leaves behind. Left as it was found.
  kIdentity,     // A sound journal, but of another group or incarnation.
  kCapacity,     // No room until a checkpoint, or a number is used up.
  kPoisoned,     // An earlier mutation failed half way: only a reopen can tell what happened.
  kLocked,       // Another process has the directory open for writing.
  kUnsupported,  // A size or feature this build does not handle.
  kInvalid,      // The request contradicts the history; the journal stays usable.
};

// "io", "damaged", ...: the spelling used in JSON.
[[nodiscard]] std::string_view ErrorKindName(ErrorKind kind);

struct Error {
  ErrorKind kind = ErrorKind::kIo;
  int sys_errno = 0;    // Positive errno, or 0 when no system call was involved.
  std::string context;  // What was found or attempted.

  // One line for a person.
  [[nodiscard]] std::string Message() const;
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

[[nodiscard]] inline tl::unexpected<Error> Fail(ErrorKind kind, std::string context) {
  return tl::make_unexpected(Error{kind, 0, std::move(context)});
}

[[nodiscard]] inline tl::unexpected<Error> IoFailure(int call_errno, std::string context) {
  return tl::make_unexpected(Error{ErrorKind::kIo, call_errno, std::move(context)});
}

// True for the one storage failure that is also an answer: the name does not exist.
[[nodiscard]] bool IsMissing(const Error& error);

}  // namespace tornfs::journal

// Hands the error of a Result or Status expression to the caller.
#define JOURNAL_TRY(expression)                                    \
  do {                                                             \
    if (auto journal_try_ = (expression); !journal_try_) {         \
      return tl::make_unexpected(std::move(journal_try_).error()); \
    }                                                              \
  } while (false)
