// Journal: a durable, checksummed sequence of prepares in one directory, and the one object that
// writes it.
//
// Records are appended to a data file; a frontier of two alternating slots says how much of it
// counts. A group of appends becomes durable with two writes and two barriers: its records, then
// one slot. docs/journal-format.md has the formats and the recovery table.
//
// Bodies of messages may lie outside the data file, in segments (segment.h). Either the caller
// writes and syncs them and appends references, or segments are enabled and the journal writes
// them.
//
// Poisoning: every mutation that fails after its first write leaves the journal poisoned, and all
// later mutations fail with kPoisoned. What reached the disk is then unknown; only a reopen can
// tell, and nothing of the failed group may be acknowledged. Requests refused before the first
// write leave the journal usable.
//
// The idea of the two-slot frontier beside a log, and most of the rules, come from Apache Iggy's
// partition journal; the format is ours.
//
// Not thread safe; group_commit.h is the thread-safe front. One writer per directory, kept so by a
// lock file.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "journal/barrier_worker.h"
#include "journal/reclaimer.h"
#include "journal/recovery.h"
#include "journal/segment_store.h"

namespace tornfs::journal {

using PrepareView = std::span<const std::byte>;

// A prepare whose body lies in a segment that the caller wrote and synced.
struct ReferencedPrepare {
  PrepareView prepare;  // Header and body.
  SegmentReference reference;
};

// A file that holds what a checkpoint lets the journal forget, and the handle that wrote it.
struct MaterializedFile {
  std::string name;  // As Storage takes it.
  File* writer = nullptr;
};

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
  // that is already stored with the same checksum is skipped. With segments enabled the bodies of
  // messages go to the segments, in a write for each run of neighbours.
  //
  // Errors before any write: kInvalid (inconsistent, or it does not follow the head), kCapacity
  // (checkpoint first), kPoisoned.
  [[nodiscard]] Status AppendBatch(std::span<const PrepareView> prepares);

  // The same for bodies that the caller has made durable in segments: only references are written.
  // Errors: also kInvalid for a reference that does not fit, or when segments are enabled.
  [[nodiscard]] Status AppendReferences(std::span<const ReferencedPrepare> prepares);

  // Makes everything appended durable. A no-op when it is.
  // Cost: fdatasync of the data file and, at the same time, of segments written; one 4096-byte
  // write and one fdatasync of the frontier. New segments add a barrier on both folders.
  [[nodiscard]] Status Sync();

  // Records that the log up to `op` is complete as of `view`, durably. `checksum` must be the op's.
  [[nodiscard]] Status CertifyLogView(std::uint32_t view, std::uint64_t op, std::uint64_t checksum);

  // Forgets the history before `op`, which the caller has made durable elsewhere; op itself stays.
  // A no-op at or below the checkpoint. Makes a buffered tail durable.
  // Cost: copies what is kept into a new data file.
  [[nodiscard]] Status Checkpoint(std::uint64_t op);

  // Syncs `files` through the handles that wrote them, then checkpoints. Nothing is forgotten when
  // one of them fails or its name is gone.
  [[nodiscard]] Status CheckpointFiles(std::uint64_t op, std::span<const MaterializedFile> files);

  // Drops `op` and everything after it, and the certificate. A no-op past the head.
  // Errors: kInvalid at or below the checkpoint. Cost: as Checkpoint.
  [[nodiscard]] Status TruncateFrom(std::uint64_t op);

  // Records durably that messages of ops up to `floor` are purged. Ignored unless newer: a higher
  // generation, or the same with a higher floor. With segments enabled the floor must be the head;
  // the bodies then move into the data file, and messages start again at offset 0.
  // Errors: kInvalid.
  [[nodiscard]] Status MarkPurge(std::uint64_t generation, std::uint64_t floor);

  // Forgets everything: an empty journal whose next op is op + 1. Without a checksum the next op
  // may name any parent. Errors: kInvalid with segments enabled.
  [[nodiscard]] Status Reset(std::uint64_t op, std::optional<std::uint64_t> checksum);
  // The same, with the checkpoint's prepare as the first record.
  [[nodiscard]] Status ResetWithPrepare(PrepareView prepare);
  // The same with segments: the public segment that ends at `cursor` must exist with exactly that
  // length. The body of the checkpoint stays there if the segment ends with it.
  [[nodiscard]] Status ResetWithSegments(PrepareView prepare, const SegmentCursor& cursor,
                                         std::uint64_t max_size);

  // From now on the journal writes segments, each of about `max_size` bytes, from offset
  // `start_offset` on. Messages above the checkpoint move into them; they must follow each other
  // from that offset. A no-op when enabled with the same size. Errors: kInvalid.
  [[nodiscard]] Status EnableSegments(std::uint64_t start_offset, std::uint64_t max_size);

  // Deletes files that no slot names any more. Failures are logged and tried again next time.
  void Reclaim() { reclaimer_.Run(); }

  // The whole prepare of a retained op. Errors: kInvalid for another op; kDamaged, kIo.
  [[nodiscard]] Result<std::vector<std::byte>> Read(std::uint64_t op);
  // Calls `visit` for each retained op from `first` on, in order, until it returns false.
  [[nodiscard]] Status ForEach(
      std::uint64_t first,
      const std::function<bool(const PrepareHeader& header, PrepareView prepare)>& visit);

  [[nodiscard]] const State& state() const { return state_; }
  [[nodiscard]] std::uint64_t head() const { return state_.head; }
  [[nodiscard]] std::uint64_t durable_head() const { return durable_head_; }
  [[nodiscard]] std::uint64_t sequence() const { return sequence_; }
  [[nodiscard]] std::uint64_t retained_bytes() const { return retained_bytes_; }
  [[nodiscard]] std::uint64_t capacity() const { return options_.capacity; }
  [[nodiscard]] std::size_t obsolete_files() const { return reclaimer_.pending(); }
  [[nodiscard]] bool poisoned() const { return poisoned_; }
  // The retained records; entries()[0] is op first_op().
  [[nodiscard]] std::span<const Entry> entries() const { return entries_; }
  [[nodiscard]] std::uint64_t first_op() const { return first_op_; }
  // The offset of the next message, as far as the journal knows: 0 when it holds none.
  [[nodiscard]] std::uint64_t next_offset() const;

 private:
  // Prepares that passed every check, and the state after them.
  struct Batch {
    State state;
    std::vector<Entry> entries;
    std::vector<PrepareView> prepares;  // Behind each entry.
  };
  // What a new generation is to hold.
  struct Plan {
    State target;  // Its length and head are computed.
    std::uint64_t first = 1;
    std::uint64_t last = 0;  // Retained ops [first, last] are copied; none when last < first.
    PrepareView checkpoint_prepare;  // Goes before them, unless empty.
    std::optional<SegmentReference> checkpoint_reference;
  };
  class Copier;

  Journal(Storage& storage, const Options& options)
      : storage_(storage),
        options_(options),
        reclaimer_(storage, options.rules),
        segments_(storage, options_, reclaimer_) {}

  // Opening (open.cc).
  [[nodiscard]] Status CreateFresh();
  [[nodiscard]] Status Adopt(FrontierView view);
  [[nodiscard]] Status SettleFiles(const History& history);
  [[nodiscard]] Status RepairFrontier(const FrontierView& view, bool state_changed);
  [[nodiscard]] Result<std::set<SegmentKey>> ScanDirectory();
  void QueueUnnamedSegments(const std::set<SegmentKey>& found);
  [[nodiscard]] Status RewriteSuspect(File& data, File& frontier);

  // Appending (journal.cc).
  [[nodiscard]] bool Stored(const Batch& batch, const PrepareHeader& header) const;
  [[nodiscard]] Status AddToBatch(PrepareView prepare, const SegmentReference* reference,
                                  Batch& batch, std::uint64_t& retained) const;
  [[nodiscard]] Status WriteBatch(const Batch& batch);
  [[nodiscard]] Status RequireRoom(const State& state) const;
  [[nodiscard]] Status CheckpointOp(std::uint64_t op) const;

  // Publishing (publish.cc).
  [[nodiscard]] Status Poison();
  [[nodiscard]] Status RequireSequences() const;
  // Hands on the result of a barrier, and leaves a mark on the disk when it failed.
  [[nodiscard]] Status Barrier(Status result);
  [[nodiscard]] Status SyncSegments();
  [[nodiscard]] Status SyncEverything();
  [[nodiscard]] Status Publish(const State& state);
  [[nodiscard]] Status PublishAt(std::size_t position, const State& state);
  [[nodiscard]] Status PublishByRename(const State& state);
  // For states that no record repeats: into both slots, so that losing one changes nothing.
  [[nodiscard]] Status PublishMetadata(const State& state);
  [[nodiscard]] Status InstallFrontier(std::uint64_t base_sequence);

  // Compaction (rewrite.cc) and what leads to it (maintain.cc).
  [[nodiscard]] Status Rewrite(const Plan& plan);
  [[nodiscard]] Result<std::uint64_t> NextGeneration() const;
  [[nodiscard]] Status CheckMigration(std::uint64_t start_offset) const;
  [[nodiscard]] Result<SegmentReference> CheckpointInPlace(PrepareView prepare,
                                                           const SegmentCursor& cursor);
  // The cursor behind the last body at or before `op`, no lower than `least`.
  [[nodiscard]] SegmentCursor CursorBehind(std::uint64_t op, const SegmentCursor& least) const;

  [[nodiscard]] bool On(Rule rule) const { return options_.rules.On(rule); }

  Storage& storage_;
  Options options_;
  Reclaimer reclaimer_;
  SegmentStore segments_;
  BarrierWorker barrier_worker_;
  std::unique_ptr<File> frontier_;
  std::unique_ptr<File> data_;
  State state_;
  std::uint64_t sequence_ = 0;  // Of the last publication.
  std::uint64_t durable_head_ = 0;
  std::uint64_t first_op_ = 1;
  std::vector<Entry> entries_;
  std::uint64_t retained_bytes_ = 0;
  std::uint64_t highest_generation_ = 0;  // Of any data file seen in the directory.
  std::uint64_t highest_segment_ = 0;     // One above any segment generation seen.
  bool suspect_ = false;                  // A barrier failed before this open.
  bool poisoned_ = false;
};

}  // namespace tornfs::journal
