// tornfs: the command table.
#include <array>
#include <span>

#include "harness/commands.h"

int main(int argc, char** argv) {
  using namespace tornfs::harness;
  const std::array commands{
      kMountCommand,   //
      kUmountCommand,  //
      kStatusCommand,  kUnsyncedCommand, kSyncCommand,   kExportCommand,
      kCrashCommand,   kArmCommand,      kDisarmCommand, kRunCommand,
      kExploreCommand, kReplayCommand,   kModelsCommand, kDoctorCommand,
  };
  const Program program{
      "tornfs", TORNFS_VERSION,
      "A filesystem that loses power on command, to test whether programs keep what they promise",
      commands};
  return RunProgram(program, {argv, static_cast<std::size_t>(argc)});
}
