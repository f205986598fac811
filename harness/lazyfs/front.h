// Front: a mount as LazyFS shows itself: commands through the FIFO, faults from the configuration
// file, and the lines in the log that programs wait for.
//
// Threads: the loop's.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "harness/lazyfs/config.h"
#include "harness/lazyfs/fault_set.h"
#include "harness/lazyfs/fifo.h"
#include "harness/lazyfs/log.h"
#include "harness/live/crasher.h"
#include "harness/live/fault_table.h"
#include "harness/live/live_mount.h"

namespace tornfs::harness::lazyfs {

class Front {
 public:
  struct Parts {
    EventLoop& loop;
    LiveMount& mount;
    Crasher& crasher;
    FaultTable& faults;
  };
  // `below` is the directory that LazyFS would have had below the mount; may be empty. The parts
  // must outlive this. Errors: those of the FIFOs and of the log.
  [[nodiscard]] static Result<std::unique_ptr<Front>> Open(const Parts& parts, const Config& config,
                                                           const std::string& below);
  ~Front();
  Front(const Front&) = delete;
  Front& operator=(const Front&) = delete;

 private:
  Front(const Parts& parts, Log log, const std::string& below);
  void Obey(std::string_view line);
  void Carry(Order order);
  void ClearCache();
  void Checkpoint();
  void Usage();
  void Report();
  void Help();
  void Accept(const Command& command, std::string_view line);
  void RefuseFault(const std::string& name, const Error& error);

  Parts parts_;
  Log log_;
  FaultSet faults_;
  std::unique_ptr<Fifos> fifos_;
};

}  // namespace tornfs::harness::lazyfs
