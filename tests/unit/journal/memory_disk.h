// MemoryDisk: a directory in memory that can be stopped at any effect, killed, and lose its power.
//
// What the disk may do
//   1. A write changes what every later read sees. It is durable only after a sync of that file.
//   2. At a power loss each page written since the last sync is, independently, old, new or torn.
//      A torn page holds the new bytes up to a cut and the old ones after it; the cut falls between
//      512-byte sectors or between any two bytes, as asked.
//   3. The size of a file changed since its last sync is old or new, independently of its pages.
//   4. Each name changed since the last directory sync is, independently, old or new. A rename
//      changes two names, and they have nothing to do with each other.
//      A link is a name like any other; the journal's folder and the partition are synced apart.
//   5. A kill loses handles and locks, and nothing else.
//
// A disk is a value: copy it to try several endings of one history.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/rng.h"
#include "journal/format.h"
#include "journal/storage.h"

namespace tornfs::journal {

enum class Tear : std::uint8_t { kNone, kSector, kByte };

class MemoryDisk {
 public:
  using Bytes = std::vector<std::byte>;

  struct Counts {
    int writes = 0;
    int file_syncs = 0;
    int creates = 0;
    int renames = 0;
    int links = 0;
    int unlinks = 0;
    int directory_syncs = 0;

    friend bool operator==(const Counts&, const Counts&) = default;
  };

  // A process's view. Dies with Kill() and PowerLoss(); the disk must outlive it and stay in place.
  [[nodiscard]] std::unique_ptr<Storage> Attach();

  // The process is gone.
  void Kill();
  // The process and everything not yet durable are gone, or not: `rng` decides.
  void PowerLoss(Rng& rng, Tear tear);

  // A file's bytes as read now; nothing when the name does not exist.
  [[nodiscard]] std::optional<Bytes> Read(const std::string& name) const;
  // Sets a file's bytes, durably: damage, not a write.
  void Put(const std::string& name, Bytes bytes);
  void Remove(const std::string& name);
  [[nodiscard]] std::map<std::string, Bytes> Contents() const;

  // Faults. Calls, and among them the effects (calls that change something), are counted from 0
  // over the life of the disk.
  std::optional<int>
      stop_after_effect;         // It happens, its call never returns, and no other follows.
  std::optional<int> fail_call;  // This call has no effect and reports an error.
  int fail_errno = 5;            // EIO: the error it reports.
  bool fail_half_way = false;    // A write that fails has written its first half.
  // A sync that fails forgets what it should have written: later reads see it, no later sync writes
  // it, and a power loss takes it.
  bool fail_forgets = false;
  bool fail_unlinks = false;
  int failing_unlinks = 0;                                     // The next so many fail.
  std::set<std::pair<std::string, std::uint64_t>> unreadable;  // Name and page.

  [[nodiscard]] int calls() const { return calls_; }
  [[nodiscard]] int effects() const { return effects_; }
  [[nodiscard]] bool stopped() const { return stopped_; }
  Counts counts;

 private:
  friend class MemoryFile;
  friend class MemoryStorage;

  struct Inode {
    Bytes now;
    Bytes durable;
    std::set<std::size_t> dirty;  // Pages.
    std::uint64_t reserved = 0;   // What Preallocate() asked for last.
  };
  using Names = std::map<std::string, std::size_t>;

  // Counts a call. Fails when the process is stale or stopped, or the call is to fail.
  [[nodiscard]] Status Begin(int epoch);
  [[nodiscard]] bool Failing() const { return fail_call == calls_ - 1 && !stopped_; }
  // Ends a call that had an effect.
  [[nodiscard]] Status End();
  // Names of the partition carry kPartitionPrefix.
  static bool InPartition(const std::string& name);
  void SyncNames(bool partition);
  // Makes the dirty pages and the size durable.
  static void Settle(Inode& inode);
  static void MarkDirty(Inode& inode, std::uint64_t begin, std::uint64_t end);
  static Bytes Survive(const Inode& inode, Rng& rng, Tear tear);

  std::vector<Inode> inodes_;
  Names names_;
  Names durable_names_;
  std::set<std::string> locked_;
  int epoch_ = 0;
  int calls_ = 0;
  int effects_ = 0;
  bool stopped_ = false;
};

}  // namespace tornfs::journal
