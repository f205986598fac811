// Journal: a durable, checksummed sequence of prepares in one directory, and the one object that
// writes it.
//
// Records are appended to a data file; a frontier of two alternating slots says how much of it
// counts. A group of appends becomes durable with two writes and two barriers: its records, then
// one slot. docs/journal-format.md has the formats and the recovery table.
//
// Poisoning: every mutation that fails after its first write leaves the journal poisoned, and all
// later mutations fail with kPoisoned. What reached the disk is then unknown; only a reopen can
// tell, and nothing of the failed group may be acknowledged. Requests refused before the first
// write leave the journal usable.
//
// The idea of the two-slot frontier beside a log, and most of the rules, come from Apache Iggy's
// partition journal; the format is ours.
//
// Not thread safe. One writer per directory, kept so by a lock file.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "journal/recovery.h"

namespace tornfs::journal {

class Journal {
 public:
  // Opens the journal in `storage`, creating it if the directory is missing or fresh, and repairs
  // what a crash left: cuts an unpublished tail, adopts the tail and rewrites the slot if one was
  // lost, deletes old generations. Everything is verified before the first write; on refusal the
  // journal's files are as they were found. `storage` must outlive the journal.
  //
  // On success head() == durable_head(), and everything up to it survives power loss.
  // Errors: kDamaged, kIdentity, kLocked, kUnsupported (capacity out of bounds), kCapacity, kIo.
  [[nodiscard]] static Result<std::unique_ptr<Journal>> Open(Storage& storage,
                                                             const Options& options);

  // Appends whole prepares (header and body) in one write. Not durable before Sync(). A prepare
  // that is already stored with the same checksum is skipped.
  //
  // Errors before any write: kInvalid (inconsistent, or it does not follow the head), kCapacity
  // (checkpoint first), kPoisoned.
  [[nodiscard]] Status AppendBatch(std::span<const std::span<const std::byte>> prepares);

  // Makes everything appended durable. A no-op when it is.
  // Cost: fdatasync of the data file, one 4096-byte write and one fdatasync of the frontier.
  [[nodiscard]] Status Sync();

  // Records that the log up to `op` is complete as of `view`, durably. `checksum` must be the op's.
  [[nodiscard]] Status CertifyLogView(std::uint32_t view, std::uint64_t op, std::uint64_t checksum);

  // Forgets the history before `op`, which the caller has made durable elsewhere; op itself stays.
  // A no-op at or below the checkpoint. Makes a buffered tail durable.
  // Cost: copies what is kept into a new data file.
  [[nodiscard]] Status Checkpoint(std::uint64_t op);

  // Drops `op` and everything after it, and the certificate. A no-op past the head.
  // Errors: kInvalid at or below the checkpoint. Cost: as Checkpoint.
  [[nodiscard]] Status TruncateFrom(std::uint64_t op);

  // Deletes files that no slot names any more. Failures are logged and tried again next time.
  void Reclaim();

  [[nodiscard]] const State& state() const { return state_; }
  [[nodiscard]] std::uint64_t head() const { return state_.head; }
  [[nodiscard]] std::uint64_t durable_head() const { return durable_head_; }
  [[nodiscard]] std::uint64_t sequence() const { return sequence_; }
  [[nodiscard]] std::uint64_t retained_bytes() const { return retained_bytes_; }
  [[nodiscard]] bool poisoned() const { return poisoned_; }
  // The retained records; entries()[0] is op first_op().
  [[nodiscard]] std::span<const Entry> entries() const { return entries_; }
  [[nodiscard]] std::uint64_t first_op() const { return first_op_; }

 private:
  // Prepares that passed every check, and the state after them.
  struct Batch {
    State state;
    std::vector<Entry> entries;
    std::vector<std::size_t> items;  // Index of the prepare behind each entry.
  };

  Journal(Storage& storage, const Options& options) : storage_(storage), options_(options) {}

  // Opening (open.cc).
  [[nodiscard]] Status CreateFresh();
  [[nodiscard]] Status Adopt(FrontierView view);
  [[nodiscard]] Status InstallFrontier(std::uint64_t base_sequence);
  [[nodiscard]] Status SettleFiles(const History& history);
  [[nodiscard]] Status RepairFrontier(const FrontierView& view, bool state_changed);
  [[nodiscard]] Status ScanDirectory();

  // Appending and publishing (journal.cc).
  [[nodiscard]] bool Stored(const Batch& batch, const PrepareHeader& header) const;
  [[nodiscard]] Result<Batch> ValidateBatch(
      std::span<const std::span<const std::byte>> prepares) const;
  [[nodiscard]] Status Poison();
  [[nodiscard]] Status RequireSequences() const;
  [[nodiscard]] Status SyncRecords();
  [[nodiscard]] Status Publish(const State& state);
  [[nodiscard]] Status PublishAt(std::size_t position, const State& state);

  // Compaction (rewrite.cc).
  [[nodiscard]] Status Rewrite(State target);
  [[nodiscard]] Result<std::uint64_t> NextGeneration() const;
  [[nodiscard]] Status CopyRecords(File& to, State& target, std::vector<Entry>& entries) const;

  [[nodiscard]] bool On(Rule rule) const { return options_.rules.On(rule); }

  Storage& storage_;
  Options options_;
  std::unique_ptr<File> frontier_;
  std::unique_ptr<File> data_;
  State state_;
  std::uint64_t sequence_ = 0;  // Of the last publication.
  std::uint64_t durable_head_ = 0;
  std::uint64_t first_op_ = 1;
  std::vector<Entry> entries_;
  std::uint64_t retained_bytes_ = 0;
  std::uint64_t highest_generation_ = 0;  // Of any data file seen in the directory.
  std::vector<std::string> obsolete_;
  bool removals_unsynced_ = false;
  bool poisoned_ = false;
};

}  // namespace tornfs::journal
