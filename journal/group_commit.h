// GroupCommit: many threads append, one thread writes, and one barrier serves a whole group.
//
// Requests enter a queue and are carried out in order. The writer takes the first append and those
// that follow it, up to 256 ops, 8 MiB of records and 8 MiB of bodies in segments, appends them in
// one batch and syncs once. While it waits for the disk the next group gathers.
//
//   GroupCommit::Start(storage, "dir", options, {})
//   commit->Append(body)            from any thread: returns the op once it is durable
//
// A failure is final: it is latched, nothing of the failed group is ever acknowledged even if its
// bytes reached the disk, everything queued fails with it, and only opening the journal again can
// tell what is there. Requests that the journal refuses before its first write fail alone, except
// an append inside a group: what follows it in the chain cannot be appended either.
//
// Thread safe. Blocking calls return when their request is durable or has failed.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "journal/journal.h"

namespace tornfs::journal {

inline constexpr std::size_t kGroupOpsMax = 256;
inline constexpr std::uint64_t kGroupBytesMax = 8ULL << 20;  // Of records, and again of bodies.
// Mutations between two passes over obsolete files while the queue never runs empty.
inline constexpr std::uint64_t kReclaimInterval = 64;

struct GroupCommitOptions {
  // Wait so long for more appends before a group that is not full, if appends have lately come that
  // close together. Zero: never.
  std::chrono::microseconds delay{0};
  // A checkpoint is due when so much of the capacity is in use.
  double checkpoint_at = 0.5;
};

struct GroupCommitMetrics {
  std::uint64_t completed_batches = 0;  // Durable groups.
  std::uint64_t batched_prepares = 0;   // Ops in them.
  std::uint64_t batched_bytes = 0;      // Of records, padding included.
  std::uint64_t delay_waits = 0;
  std::uint64_t refused_for_capacity = 0;
};

// An op as it was accepted; durable when Wait(ticket) says so.
struct Ticket {
  std::uint64_t op = 0;
  std::uint64_t checksum = 0;
};

enum class Admission : std::uint8_t { kOpen, kPaused };

class GroupCommit {
 public:
  // Opens the journal and starts the writer. `lease` names the directory within this process: one
  // owner at a time, as flock(2) keeps other processes out. `storage` must outlive the object.
  // Errors: those of Journal::Open; kLocked when the lease is taken.
  [[nodiscard]] static Result<std::unique_ptr<GroupCommit>> Start(
      Storage& storage, const std::string& lease, const Options& options,
      const GroupCommitOptions& group_options);
  // Carries out what is queued, then stops: a writer is never lost inside a mutation.
  ~GroupCommit();
  GroupCommit(const GroupCommit&) = delete;
  GroupCommit& operator=(const GroupCommit&) = delete;

  // Queues `body` as the next op and returns at once. With segments, or `messages`, it becomes a
  // batch of one message. Errors: kCapacity (back-pressure: try again after a checkpoint),
  // kPoisoned (an earlier request failed), kUnsupported (too long).
  [[nodiscard]] Result<Ticket> Submit(std::span<const std::byte> body, bool messages = false);
  // Queues a prepare that the caller has made. One that was accepted before is accepted again.
  // Errors: also kInvalid when it does not follow the accepted head.
  [[nodiscard]] Result<Ticket> SubmitPrepare(std::vector<std::byte> prepare);
  // Returns when the op is durable, or with what keeps it from ever being.
  // Errors: kInvalid when it was truncated away meanwhile.
  [[nodiscard]] Status Wait(const Ticket& ticket);
  // Both.
  [[nodiscard]] Result<Ticket> Append(std::span<const std::byte> body, bool messages = false);

  // Whether the op may be acknowledged: durable, with this checksum, and nothing has failed.
  [[nodiscard]] bool IsDurable(const Ticket& ticket) const;

  // Drops `op` and everything after it: queued appends at once, so that none of them is
  // acknowledged from now on, then those in the journal.
  [[nodiscard]] Status TruncateFrom(std::uint64_t op);
  // Runs any other mutation behind what is queued, e.g. [](Journal& j) { return j.Checkpoint(7); }.
  // One that changes what comes next (reset, purge, segments) needs kPaused: until it returns,
  // submissions are refused with kCapacity.
  [[nodiscard]] Status Run(std::function<Status(Journal&)> mutation,
                           Admission admission = Admission::kOpen);

  // Is it time for a checkpoint? Never while one asked for with Run() has not returned.
  [[nodiscard]] bool CheckpointDue() const;
  [[nodiscard]] std::uint64_t durable_head() const;
  [[nodiscard]] std::uint64_t accepted_head() const;
  [[nodiscard]] GroupCommitMetrics metrics() const;
  [[nodiscard]] std::optional<Error> failure() const;

 private:
  using Clock = std::chrono::steady_clock;

  struct Item {
    // An append, or else a mutation.
    std::vector<std::byte> prepare;
    std::uint64_t op = 0;
    std::uint64_t record_bytes = 0;    // In the data file.
    std::uint64_t body_bytes = 0;      // In segments.
    std::uint64_t retained_bytes = 0;  // Against the capacity.
    std::function<Status(Journal&)> mutation;
    Admission admission = Admission::kOpen;
    bool truncates = false;
    std::shared_ptr<std::optional<Status>> done;
  };
  // An op that was accepted and is above the checkpoint.
  struct Accepted {
    std::uint64_t checksum = 0;
    std::uint64_t next_offset = 0;  // Of the first message behind it.
  };
  struct Group {
    std::vector<Item> items;
    std::uint64_t record_bytes = 0;
    std::uint64_t body_bytes = 0;

    [[nodiscard]] bool Full() const { return items.size() >= kGroupOpsMax; }
    [[nodiscard]] bool Fits(const Item& item) const;
  };
  class Lease;

  GroupCommit(const Options& options, const GroupCommitOptions& group_options);

  // All under mutex_.
  [[nodiscard]] Status Admit(std::uint64_t retained_bytes);
  [[nodiscard]] Ticket Enqueue(std::vector<std::byte> prepare, const Entry& entry,
                               const PrepareHeader& header);
  [[nodiscard]] const Accepted* Find(const Ticket& ticket) const;
  [[nodiscard]] bool Acknowledged(const Ticket& ticket) const;
  [[nodiscard]] Status Await(Item item, std::unique_lock<std::mutex>& lock);
  [[nodiscard]] std::uint64_t next_offset() const {
    return accepted_ops_.empty() ? base_offset_ : accepted_ops_.back().next_offset;
  }

  // The writer's thread (group_writer.cc), under mutex_ wherever a lock is handed over.
  void Loop();
  void TakeAppends(Group& group);
  [[nodiscard]] bool WorthWaiting(const Group& group) const;
  void WriteGroup(std::unique_lock<std::mutex>& lock);
  void Mutate(std::unique_lock<std::mutex>& lock);
  void ReclaimNowAndThen(std::unique_lock<std::mutex>& lock);
  void PublishProgress();
  void TakeOver();  // What is accepted, from the journal.
  void Latch(const Error& error);

  Options options_;
  GroupCommitOptions group_options_;
  std::unique_ptr<Lease> lease_;
  std::unique_ptr<Journal> journal_;  // The writer's alone.

  mutable std::mutex mutex_;
  std::condition_variable work_;      // Something was queued, or it is time to end.
  std::condition_variable progress_;  // Something became durable, was refused or failed.
  std::deque<Item> queue_;
  State accepted_;                     // As if everything accepted were appended.
  std::deque<Accepted> accepted_ops_;  // From checkpoint_ + 1.
  std::uint64_t base_offset_ = 0;      // Of the first message behind the checkpoint.
  std::uint64_t checkpoint_ = 0;
  std::uint64_t checkpoint_checksum_ = 0;
  std::uint64_t durable_head_ = 0;
  std::uint64_t truncations_ = 0;     // Queued or in progress.
  std::uint64_t truncated_head_ = 0;  // What no acknowledgment may pass until they are done.
  std::uint64_t retained_bytes_ = 0;  // In the journal.
  std::uint64_t pending_bytes_ = 0;   // Queued and in flight.
  std::uint64_t pending_mutations_ = 0;
  std::uint64_t pauses_ = 0;
  std::uint64_t since_reclaim_ = 0;
  Clock::time_point last_submission_{};
  Clock::duration last_gap_ = Clock::duration::max();
  GroupCommitMetrics metrics_;
  std::optional<Error> failure_;
  bool ending_ = false;
  std::thread writer_;
};

}  // namespace tornfs::journal
