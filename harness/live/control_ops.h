// ControlOps: what a mount answers on its control socket.
//
//   status                           see harness/cmd_status.cc
//   unsynced                         {"pending": N, "effects": [{"op", "effect", "requires"}]}
//   sync                             {"op": N}
//   export   {"dir": "/abs"}         {}
//   crash    crash options           a crash report
//   arm      {"trigger"} and options {"trigger": as understood}
//   disarm                           {"was_armed": true}
//   fault    {"rule": "..."}         {"rule": as understood}
//   clear-faults                     {"rules": how many there were}
//   umount                           {}; the daemon ends after the reply
//
// Crash options and reports: harness/live/crash_options.h, crash_report.h.
#pragma once

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "fusefs/fuse/control_server.h"
#include "harness/live/crasher.h"
#include "harness/live/fault_table.h"
#include "harness/live/live_mount.h"

namespace tornfs::harness {

class ControlOps {
 public:
  // All must outlive this, and `control` must not be pumped after this has gone.
  ControlOps(LiveMount& mount, Crasher& crasher, FaultTable& faults, ControlServer& control);
  ControlOps(const ControlOps&) = delete;
  ControlOps& operator=(const ControlOps&) = delete;

  [[nodiscard]] bool umount_requested() const { return umount_requested_; }

 private:
  using Json = nlohmann::json;
  [[nodiscard]] Result<Json> Status();
  [[nodiscard]] Result<Json> Unsynced();
  [[nodiscard]] Result<Json> Sync();
  [[nodiscard]] Result<Json> Export(const Json& args);
  [[nodiscard]] Result<Json> Crash(const Json& args);
  [[nodiscard]] Result<Json> Arm(const Json& args);
  [[nodiscard]] Result<Json> AddFault(const Json& args);
  [[nodiscard]] Result<Json> Umount();
  [[nodiscard]] Json Counters() const;
  [[nodiscard]] Json Memory() const;

  LiveMount& mount_;
  Crasher& crasher_;
  FaultTable& faults_;
  ControlServer& control_;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  bool umount_requested_ = false;
};

}  // namespace tornfs::harness
