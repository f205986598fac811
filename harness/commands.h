// The commands of tornfs, one file each: harness/cmd_NAME.cc. main.cc puts them into the table.
#pragma once

#include "harness/cli.h"

namespace tornfs::harness {

extern const Command kArmCommand;
extern const Command kCalibrateCommand;
extern const Command kCrashCommand;
extern const Command kDisarmCommand;
extern const Command kDoctorCommand;
extern const Command kExploreCommand;
extern const Command kExportCommand;
extern const Command kFaultCommand;
extern const Command kLitmusCommand;
extern const Command kMergeCommand;
extern const Command kModelsCommand;
extern const Command kMountCommand;
extern const Command kRecheckCommand;
extern const Command kReplayCommand;
extern const Command kReportCommand;
extern const Command kRunCommand;
extern const Command kShrinkCommand;
extern const Command kStatusCommand;
extern const Command kSyncCommand;
extern const Command kUmountCommand;
extern const Command kUnsyncedCommand;

}  // namespace tornfs::harness
