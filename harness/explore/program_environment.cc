#include "harness/explore/program_environment.h"

#include <unistd.h>

#include <string_view>

extern char** environ;  // NOLINT: POSIX names it.

namespace tornfs::harness {
namespace {

bool IsOurs(std::string_view variable) {
  return variable.starts_with("TORNFS_") || variable.starts_with("PYTHONUNBUFFERED=");
}

}  // namespace

std::vector<std::string> ProgramEnvironment(const ProgramPlace& place) {
  std::vector<std::string> environment;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!IsOurs(*variable)) environment.emplace_back(*variable);
  }
  environment.push_back("TORNFS_MOUNT=" + place.mount);
  environment.push_back("TORNFS_ORIGIN=" + place.origin);
  environment.push_back("TORNFS_SEED=" + std::to_string(place.seed));
  environment.emplace_back("PYTHONUNBUFFERED=1");
  if (!place.promises.empty()) environment.push_back("TORNFS_PROMISES=" + place.promises);
  return environment;
}

}  // namespace tornfs::harness
