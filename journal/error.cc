#include "journal/error.h"

#include <cerrno>
#include <cstring>

namespace tornfs::journal {

std::string_view ErrorKindName(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kIo: return "io";
    case ErrorKind::kDamaged: return "damaged";
    case ErrorKind::kIdentity: return "identity";
    case ErrorKind::kCapacity: return "capacity";
    case ErrorKind::kPoisoned: return "poisoned";
    case ErrorKind::kLocked: return "locked";
    case ErrorKind::kUnsupported: return "unsupported";
    case ErrorKind::kInvalid: return "invalid";
  }
  return "unknown";
}

std::string Error::Message() const {
  if (sys_errno == 0) return context;
  return context + ": " + std::strerror(sys_errno);
}

bool IsMissing(const Error& error) {
  return error.kind == ErrorKind::kIo && error.sys_errno == ENOENT;
}

}  // namespace tornfs::journal
