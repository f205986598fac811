// Purge markers, resets, certificates, obsolete files, and the protocols that are not ours.
#include <gtest/gtest.h>

#include "common/bytes.h"
#include "fixture.h"

namespace tornfs::journal {
namespace {

using Bytes = MemoryDisk::Bytes;

TEST(Purge, same_generation_purge_retry_persists_the_larger_floor) {
  MemoryDisk disk = DiskWith(5);
  {
    OpenJournal journal(disk);
    ASSERT_TRUE(journal->MarkPurge(2, 3));
    const std::uint64_t sequence = journal->sequence();
    for (const auto& [generation, floor] : {std::pair{2U, 3U}, {2U, 2U}, {1U, 5U}}) {
      ASSERT_TRUE(journal->MarkPurge(generation, floor));
    }
    EXPECT_EQ(journal->sequence(), sequence);
    ASSERT_TRUE(journal->MarkPurge(2, 4));
    ASSERT_TRUE(journal->MarkPurge(3, 1));
    ASSERT_TRUE(journal->MarkPurge(3, 4));
  }
  OpenJournal journal(disk);
  EXPECT_EQ(journal->state().purge_generation, 3U);
  EXPECT_EQ(journal->state().purge_floor, 4U);
}

TEST(Purge, purge_marker_does_not_promote_the_uncommitted_tail_to_checkpoint) {
  MemoryDisk disk = DiskWith(2);
  {
    OpenJournal journal(disk);
    ASSERT_TRUE(journal.Append("buffered"));
    EXPECT_EQ(journal->MarkPurge(1, 4).error().kind, ErrorKind::kInvalid);
    ASSERT_TRUE(journal->MarkPurge(1, 3));
    EXPECT_EQ(journal->durable_head(), 3U);
  }
  OpenJournal journal(disk);
  EXPECT_EQ(journal->head(), 3U);
  EXPECT_EQ(journal->state().checkpoint, 0U);
}

TEST(Reset, ForgetsEverythingButTheMarker) {
  MemoryDisk disk = DiskWith(3);
  {
    OpenJournal journal(disk);
    ASSERT_TRUE(journal->MarkPurge(4, 2));
    ASSERT_TRUE(journal->Reset(7, std::nullopt));
    EXPECT_EQ(journal->state().certified_log_view, std::nullopt);
    EXPECT_EQ(journal->state().purge_generation, 4U);
    EXPECT_TRUE(journal->CertifyLogView(3, 7, 0));
    EXPECT_FALSE(journal->CertifyLogView(3, 7, 1));
  }
  OpenJournal journal(disk);
  ASSERT_TRUE(journal.ok()) << journal.error().Message();
  EXPECT_EQ(journal->head(), 7U);
  const Prepare next = MakePrepare(8, 1234, "any parent");
  const PrepareView view(next);
  ASSERT_TRUE(journal->AppendBatch(std::span(&view, 1)));
  EXPECT_EQ(journal->state().checkpoint_checksum, 1234U);
}

TEST(Reset, transferred_checkpoint_binds_the_next_accepted_parent) {
  MemoryDisk disk = DiskWith(3);
  { ASSERT_TRUE(OpenJournal(disk)->Reset(1, 99)); }
  OpenJournal journal(disk);
  const Prepare wrong = MakePrepare(2, 98, "x");
  const Prepare right = MakePrepare(2, 99, "x");
  const PrepareView views[] = {wrong, right};
  EXPECT_EQ(journal->AppendBatch(std::span(views, 1)).error().kind, ErrorKind::kInvalid);
  EXPECT_TRUE(journal->AppendBatch(std::span(views + 1, 1)));
}

TEST(Reset, transferred_checkpoint_retains_its_prepare_after_restart) {
  MemoryDisk disk = DiskWith(3);
  const Prepare checkpoint = MakePrepare(10, 5, "the checkpoint");
  {
    OpenJournal journal(disk);
    Prepare damaged = checkpoint;
    damaged.back() ^= std::byte{1};
    EXPECT_EQ(journal->ResetWithPrepare(damaged).error().kind, ErrorKind::kInvalid);
    ASSERT_TRUE(journal->ResetWithPrepare(checkpoint));
    ASSERT_TRUE(journal.AppendDurably("next"));
  }
  OpenJournal journal(disk);
  ASSERT_TRUE(journal.ok()) << journal.error().Message();
  EXPECT_EQ(journal->Read(10), checkpoint);
  EXPECT_EQ(journal->head(), 11U);
}

TEST(Reset, TheLastOpNumberIsNotHandedOut) {
  MemoryDisk disk = DiskWith(1);
  OpenJournal journal(disk);
  EXPECT_EQ(journal->Reset(UINT64_MAX, 1).error().kind, ErrorKind::kCapacity);
  ASSERT_TRUE(journal->Reset(UINT64_MAX - 1, 1));
  EXPECT_TRUE(journal.AppendDurably("the last"));
  EXPECT_EQ(journal.Append("one more").error().kind, ErrorKind::kCapacity);
}

// H.16: the newest slot is damaged after a publication that left no record.
bool MarkerSurvivesDamage(const Options& options) {
  MemoryDisk disk = DiskWith(3);
  { EXPECT_TRUE(OpenJournal(disk, options)->MarkPurge(1, 2)); }
  DamageSlot(disk, NewestPosition(disk));
  return OpenJournal(disk)->state().purge_floor == 2;
}

TEST(Hole, H16MetadataIsInBothSlots) {
  EXPECT_TRUE(MarkerSurvivesDamage({}));
  EXPECT_FALSE(MarkerSurvivesDamage(Without({Rule::kPublishMetadataTwice})));
}

// H.8: a slot damaged at rest and a torn append behind it. Nothing on the disk tells this from the
// loss of acknowledged records, so the choice is a person's.
TEST(Hole, H8DamagedSlotWithTornTailIsRefusedUntilTheLossIsAccepted) {
  MemoryDisk disk = DiskWith(3);
  {
    OpenJournal journal(disk);
    ASSERT_TRUE(journal.Append("whole") && journal.Append("torn"));
  }
  DamageSlot(disk, NewestPosition(disk));
  Bytes data = disk.Read(DataFileName(0)).value();
  data.back() ^= std::byte{1};
  data[4 * kBlockBytes + 40] ^= std::byte{1};
  disk.Put(DataFileName(0), data);
  const auto before = disk.Contents();
  EXPECT_EQ(OpenJournal(disk).error().kind, ErrorKind::kDamaged);
  EXPECT_EQ(disk.Contents(), before);
  Options accept;
  accept.accept_loss = true;
  { EXPECT_EQ(OpenJournal(disk, accept)->durable_head(), 4U); }
  EXPECT_EQ(Refusal(disk), "");
}

// H.11: the writer's error is reported to the writer alone.
class FailingFile final : public File {
 public:
  Result<std::size_t> ReadAt(std::uint64_t, std::span<std::byte>) override { return 0; }
  Status WriteAt(std::uint64_t, std::span<const std::byte>) override { return {}; }
  Status WriteParts(std::uint64_t, std::span<const std::span<const std::byte>>) override {
    return {};
  }
  Result<std::uint64_t> Length() override { return 0; }
  Status Truncate(std::uint64_t) override { return {}; }
  Status Sync() override { return IoFailure(5, "writeback"); }
  void Preallocate(std::uint64_t) override {}
};

TEST(Hole,
     H11given_a_failed_writeback_when_checkpointing_then_wal_history_should_not_be_reclaimed) {
  for (const bool repaired : {true, false}) {
    MemoryDisk disk = DiskWith(3);
    disk.Put("materialized", Bytes(10));
    OpenJournal journal(disk, repaired ? Options{} : Without({Rule::kSyncOriginalWriters}));
    FailingFile writer;
    const MaterializedFile file{"materialized", &writer};
    EXPECT_EQ(journal->CheckpointFiles(3, std::span(&file, 1)).has_value(), !repaired);
    EXPECT_EQ(journal->state().checkpoint, repaired ? 0U : 3U);
  }
}

TEST(CheckpointFiles, AMissingPathFailsTheCheckpoint) {
  MemoryDisk disk = DiskWith(3);
  OpenJournal journal(disk);
  const MaterializedFile file{"absent", nullptr};
  EXPECT_EQ(journal->CheckpointFiles(3, std::span(&file, 1)).error().kind, ErrorKind::kIo);
  EXPECT_EQ(journal->state().checkpoint, 0U);
}

// One file, two handles that wrote it: the error of either counts.
TEST(CheckpointFiles, given_multiple_writers_for_one_checkpoint_file_then_each_is_synced) {
  MemoryDisk disk = DiskWith(3);
  disk.Put("materialized", Bytes(10));
  OpenJournal journal(disk);
  const auto storage = disk.Attach();
  const auto good = storage->Open("materialized", OpenMode::kReadWrite);
  FailingFile bad;
  const MaterializedFile files[] = {{"materialized", good->get()}, {"materialized", &bad}};
  EXPECT_EQ(journal->CheckpointFiles(3, files).error().kind, ErrorKind::kIo);
  EXPECT_EQ(journal->state().checkpoint, 0U);
}

TEST(Reclaim, obsolete_wal_generations_are_reclaimed_after_restart_and_failed_unlink) {
  MemoryDisk disk = DiskWith(3);
  disk.fail_unlinks = true;
  { ASSERT_TRUE(OpenJournal(disk)->Checkpoint(2)); }
  { EXPECT_EQ(OpenJournal(disk)->obsolete_files(), 1U); }
  EXPECT_TRUE(disk.Read(DataFileName(0)));
  disk.fail_unlinks = false;
  EXPECT_EQ(OpenJournal(disk)->obsolete_files(), 0U);
  EXPECT_FALSE(disk.Read(DataFileName(0)));
}

TEST(Reclaim, append_leaves_obsolete_files_for_the_writer_to_reclaim) {
  for (const bool repaired : {true, false}) {
    Options options = repaired ? Options{} : Without({Rule::kReclaimOffAppend});
    options.reclaim_later = true;
    MemoryDisk disk = DiskWith(3);
    OpenJournal journal(disk, options);
    ASSERT_TRUE(journal->Checkpoint(2));
    disk.counts = {};
    ASSERT_TRUE(journal.AppendDurably("four"));
    EXPECT_EQ(disk.counts.writes + disk.counts.file_syncs, 4);
    EXPECT_EQ(disk.counts.unlinks, repaired ? 0 : 1);
    EXPECT_EQ(disk.Read(DataFileName(0)).has_value(), repaired);
    journal->Reclaim();
    EXPECT_FALSE(disk.Read(DataFileName(0)));
  }
}

TEST(Reclaim, cleanup_reclaims_all_generations_queued_between_writer_passes) {
  for (const bool repaired : {true, false}) {
    MemoryDisk disk = DiskWith(66);
    Options options = repaired ? Options{} : Without({Rule::kReclaimPastFailures});
    options.reclaim_later = true;
    OpenJournal journal(disk, options);
    for (std::uint64_t op = 1; op <= 64; ++op) ASSERT_TRUE(journal->Checkpoint(op));
    EXPECT_EQ(journal->obsolete_files(), 64U);
    disk.failing_unlinks = 16;
    journal->Reclaim();
    // The first sixteen cannot be deleted; those behind them can.
    EXPECT_EQ(journal->obsolete_files(), repaired ? 16U : 64U);
  }
}

TEST(Validation, InconsistentPreparesGetInOnlyWithoutTheRule) {
  MemoryDisk disk = DiskWith(1);
  OpenJournal journal(disk, Without({Rule::kValidateAtAppend}));
  Prepare bad = MakePrepare(2, journal->state().head_checksum, "body");
  bad.back() ^= std::byte{1};
  const PrepareView view(bad);
  ASSERT_TRUE(journal->AppendBatch(std::span(&view, 1)) && journal->Sync());
  EXPECT_NE(Refusal(disk), "");
}

Options With(Protocol protocol) {
  Options options;
  options.protocol = protocol;
  options.rules = RulesOf(protocol);
  return options;
}

TEST(Protocols, EachRefusesTheOthers) {
  for (const ProtocolName& writer : AllProtocols()) {
    MemoryDisk disk;
    {
      OpenJournal journal(disk, With(writer.protocol));
      ASSERT_TRUE(journal.ok()) << journal.error().Message();
      ASSERT_TRUE(journal.AppendDurably("one"));
    }
    disk.Kill();
    const auto before = disk.Contents();
    for (const ProtocolName& reader : AllProtocols()) {
      EXPECT_EQ(Refusal(disk, With(reader.protocol)).empty(), reader.protocol == writer.protocol)
          << writer.name << " read as " << reader.name;
      if (reader.protocol == writer.protocol) continue;
      EXPECT_FALSE(OpenJournal(disk, With(reader.protocol)).ok());
    }
    auto after = disk.Contents();
    after.erase("lock");
    auto expected = before;
    expected.erase("lock");
    EXPECT_EQ(after, expected);
  }
}

TEST(Protocols, BaselinesKeepTheirHistory) {
  for (const ProtocolName& each : AllProtocols()) {
    MemoryDisk disk;
    for (int i = 1; i <= 3; ++i) {
      OpenJournal journal(disk, With(each.protocol));
      ASSERT_TRUE(journal.ok()) << each.name << journal.error().Message();
      ASSERT_TRUE(journal.AppendDurably("record"));
      ASSERT_TRUE(journal->Checkpoint(static_cast<std::uint64_t>(i)));
      ASSERT_TRUE(journal.Append("cut again"));
    }
    EXPECT_EQ(OpenJournal(disk, With(each.protocol))->head(), 3U) << each.name;
  }
}

TEST(Protocols, TheRenameProtocolPaysForItsNames) {
  MemoryDisk disk;
  OpenJournal journal(disk, With(Protocol::kRename));
  disk.counts = {};
  ASSERT_TRUE(journal.AppendDurably("one"));
  EXPECT_EQ(disk.counts,
            (MemoryDisk::Counts{
                .writes = 2, .file_syncs = 2, .creates = 1, .renames = 1, .directory_syncs = 1}));
}

TEST(Journal, ProgressIsReportedWhileALargeJournalOpens) {
  MemoryDisk disk = DiskWith(0);
  {
    OpenJournal journal(disk);
    const std::string large(40 << 20, 'x');
    ASSERT_TRUE(journal.Append(large) && journal.Append(large) && journal->Sync());
  }
  Options options;
  std::vector<std::uint64_t> seen;
  options.progress = [&seen](std::uint64_t done, std::uint64_t) { seen.push_back(done); };
  ASSERT_TRUE(OpenJournal(disk, options).ok());
  EXPECT_EQ(seen.size(), 1U);
}

}  // namespace
}  // namespace tornfs::journal
