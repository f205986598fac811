// SyncWatch: sync(2) and syncfs(2) by the programs of a Supervisor are barriers on a mount.
//
// While a caught thread waits, what was stored through shared mappings is pulled and everything on
// the mount becomes durable. Syncs of other filesystems are let through, those of processes that
// are not the supervisor's are never seen.
//
// With SyscallWatch::kSyncsAndWrites, attempts to write outside the world are looked for as well.
//
// Threads: the loop's.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "harness/outside_writes.h"
#include "harness/supervisor.h"

namespace tornfs {
class Server;
}

namespace tornfs::harness {

class SyncWatch {
 public:
  enum class Rest : std::uint8_t {
    kMachineToo,  // sync(2) goes on to the filesystems of the machine.
    kMountOnly,   // It returns: nothing else can have been written.
  };
  // Both must outlive the watch; `server` must be mounted. Without a watching supervisor it does
  // nothing.
  SyncWatch(Server& server, const Supervisor& supervisor, Rest rest);
  ~SyncWatch();
  SyncWatch(const SyncWatch&) = delete;
  SyncWatch& operator=(const SyncWatch&) = delete;

  // Barriers made so far.
  [[nodiscard]] std::uint64_t syncs() const { return syncs_; }
  // Paths outside the world that programs have tried to change.
  [[nodiscard]] const std::set<std::string>& outside_writes() const { return outside_.paths(); }

 private:
  void Serve();
  [[nodiscard]] bool IsOnMount(const CaughtSyscall& caught);

  Server& server_;
  const int listener_;
  const Rest rest_;
  OutsideWrites outside_;
  std::uint64_t syncs_ = 0;
};

}  // namespace tornfs::harness
