// What `tornfs run` was asked to do.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fusefs/core/trigger.h"
#include "harness/identity.h"
#include "harness/live/crash_options.h"
#include "harness/live/fault_rule.h"
#include "harness/live/live_mount.h"

namespace tornfs::harness {

struct RunOptions {
  LiveMountOptions live;
  std::string at;
  std::string setup;  // CMD strings (harness/command_line.h); empty: none.
  std::string then;
  std::vector<std::string> workload;
  std::optional<Trigger> trigger;
  bool crash_at_end = false;
  CrashOptions crash;
  std::vector<FaultRule> faults;
  std::uint64_t seed = 1;  // TORNFS_SEED
  std::optional<std::chrono::milliseconds> timeout;
  std::optional<Identity> identity;
  int pin = -1;
  bool json = false;
  std::string name;  // "tornfs run", in front of every line for people.
};

}  // namespace tornfs::harness
