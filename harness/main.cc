// tornfs: the command table.
#include <fcntl.h>

#include <array>
#include <span>

#include "harness/commands.h"

namespace {

// Descriptors 0 to 2 must exist, so that none of ours becomes one of them. Writing to one that was
// closed still fails: nobody may take silence for success.
void FillStandardDescriptors() {
  for (int fd = 0; fd < 3; ++fd) {
    if (::fcntl(fd, F_GETFD) < 0) (void)::open("/dev/null", O_RDONLY);
  }
}

}  // namespace

int main(int argc, char** argv) {
  using namespace tornfs::harness;
  FillStandardDescriptors();
  const std::array commands{
      kMountCommand,  kUmountCommand,  kStatusCommand, kUnsyncedCommand, kSyncCommand,
      kExportCommand, kCrashCommand,   kArmCommand,    kDisarmCommand,   kFaultCommand,
      kRunCommand,    kExploreCommand, kReplayCommand, kShrinkCommand,   kRecheckCommand,
      kReportCommand, kMergeCommand,   kModelsCommand, kLitmusCommand,   kCalibrateCommand,
      kDoctorCommand,
  };
  const Program program{
      "tornfs", TORNFS_VERSION,
      "A filesystem that loses power on command, to test whether programs keep what they promise",
      commands};
  return RunProgram(program, {argv, static_cast<std::size_t>(argc)});
}
