#include "common/result.h"

#include <cstring>

namespace tornfs {

std::string_view ErrorCodeName(ErrorCode code) {
  switch (code) {
    case ErrorCode::kIo: return "io";
    case ErrorCode::kCorrupt: return "corrupt";
    case ErrorCode::kNotFound: return "not-found";
    case ErrorCode::kBusy: return "busy";
    case ErrorCode::kInvalid: return "invalid";
    case ErrorCode::kTimeout: return "timeout";
    case ErrorCode::kMissing: return "missing";
  }
  return "unknown";
}

std::string Error::Message() const {
  if (sys_errno == 0) return context;
  return context + ": " + std::strerror(sys_errno);
}

}  // namespace tornfs
