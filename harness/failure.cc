#include "harness/failure.h"

#include <cstdio>
#include <string>

#include "common/log.h"

namespace tornfs::harness {

int ExitOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalid: return kExitUsage;
    case ErrorCode::kMissing: return kExitMissing;
    default: return kExitInconclusive;
  }
}

int ReportFailure(const ParsedCommand& parsed, int exit, std::string_view text) {
  const std::string line = parsed.name + ": " + std::string(text) + "\n";
  std::fputs(line.c_str(), stderr);
  return exit;
}

int ReportFailure(const ParsedCommand& parsed, const Error& error) {
  return ReportFailure(parsed, ExitOf(error.code), error.Message());
}

int ReportUnusableResult(const Error& error) {
  LogError(error.Message());
  return error.code == ErrorCode::kNotFound ? kExitUsage : ExitOf(error.code);
}

}  // namespace tornfs::harness
