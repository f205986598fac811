// Group commit: many threads, one writer, one barrier per group. The disk in memory is not thread
// safe; only the writer touches it, and the tests read it when the writer is idle.
#include "journal/group_commit.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <latch>

#include "fixture.h"
#include "journal/batch.h"
#include "journal/posix_storage.h"

namespace tornfs::journal {
namespace {

namespace fs = std::filesystem;

std::span<const std::byte> AsBytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// A journal on a disk in memory behind group commit.
class Committer {
 public:
  explicit Committer(MemoryDisk& disk, const Options& options = {},
                     const GroupCommitOptions& group_options = {})
      : storage_(disk.Attach()),
        commit_(GroupCommit::Start(*storage_, "memory", options, group_options)) {}

  [[nodiscard]] bool ok() const { return commit_.has_value(); }
  [[nodiscard]] const Error& error() const { return commit_.error(); }
  GroupCommit* operator->() { return commit_->get(); }
  void Stop() { commit_ = Fail(ErrorKind::kInvalid, "stopped"); }

  // Queues `count` bodies while the writer is held, so that they meet in the queue.
  std::vector<Ticket> SubmitTogether(int count, std::size_t bytes, bool messages = false) {
    std::latch entered(1);
    std::latch release(1);
    std::vector<Ticket> tickets;
    std::jthread holder([&] {
      EXPECT_TRUE((*commit_)->Run([&](Journal&) -> Status {
        entered.count_down();
        release.wait();
        return {};
      }));
    });
    entered.wait();
    for (int i = 0; i < count; ++i) {
      const auto ticket = (*commit_)->Submit(AsBytes(std::string(bytes, 'b')), messages);
      EXPECT_TRUE(ticket) << ticket.error().Message();
      if (ticket) tickets.push_back(*ticket);
    }
    release.count_down();
    return tickets;
  }

 private:
  std::unique_ptr<Storage> storage_;
  Result<std::unique_ptr<GroupCommit>> commit_;
};

// Section F, plain: writes and barriers for n records that meet in the queue.
class Figures : public testing::TestWithParam<std::pair<int, int>> {};

TEST_P(Figures, queued_prepares_share_a_barrier_and_survive_power_loss_together) {
  const auto [count, groups] = GetParam();
  MemoryDisk disk = DiskWith(1);
  {
    Committer commit(disk);
    ASSERT_TRUE(commit.ok()) << commit.error().Message();
    disk.counts = {};
    const auto tickets = commit.SubmitTogether(count, 12288);
    ASSERT_TRUE(commit->Wait(tickets.back()));
    EXPECT_EQ(disk.counts, (MemoryDisk::Counts{.writes = 2 * groups, .file_syncs = 2 * groups}));
    EXPECT_EQ(commit->metrics().completed_batches, static_cast<std::uint64_t>(groups));
    EXPECT_EQ(commit->metrics().batched_prepares, static_cast<std::uint64_t>(count));
  }
  Rng rng(1);
  disk.PowerLoss(rng, Tear::kSector);
  EXPECT_EQ(OpenJournal(disk)->durable_head(), static_cast<std::uint64_t>(count) + 1);
}

TEST_P(Figures, queued_owned_prepares_share_three_file_barriers_without_directory_mutations) {
  const auto [count, groups] = GetParam();
  MemoryDisk disk = DiskWithSegments(1, 64 << 20);
  Committer commit(disk);
  ASSERT_TRUE(commit->Append(AsBytes("the segment is open now")));
  disk.counts = {};
  const auto tickets = commit.SubmitTogether(count, 12288);
  ASSERT_TRUE(commit->Wait(tickets.back()));
  EXPECT_EQ(disk.counts, (MemoryDisk::Counts{.writes = 3 * groups, .file_syncs = 3 * groups}));
}

INSTANTIATE_TEST_SUITE_P(SectionF, Figures,
                         testing::Values(std::pair{65, 1}, std::pair{256, 1}, std::pair{257, 2}));

TEST(GroupCommit,
     given_segment_body_work_exceeds_the_limit_when_appending_then_the_batch_should_split) {
  for (const auto& [count, groups] : {std::pair{8, 1U}, std::pair{9, 2U}}) {
    MemoryDisk disk = DiskWithSegments(0, 64 << 20);
    Committer commit(disk);
    const auto tickets = commit.SubmitTogether(count, (std::size_t{1} << 20) - kBatchHeaderBytes);
    ASSERT_TRUE(commit->Wait(tickets.back()));
    EXPECT_EQ(commit->metrics().completed_batches, groups) << count;
  }
}

TEST(GroupCommit, FullRecordsCountPadded) {
  MemoryDisk disk;
  Committer commit(disk);
  const auto tickets = commit.SubmitTogether(8, 1 << 20);
  ASSERT_TRUE(commit->Wait(tickets.back()));
  EXPECT_EQ(commit->metrics().completed_batches, 2U);
}

TEST(GroupCommit, failed_group_barrier_never_acknowledges_a_partial_batch) {
  for (int call = 0; call < 4; ++call) {
    MemoryDisk disk = DiskWith(1);
    std::vector<Ticket> tickets;
    {
      Committer commit(disk);
      disk.fail_call = disk.calls() + call;
      tickets = commit.SubmitTogether(4, 100);
      for (const Ticket& ticket : tickets) {
        EXPECT_FALSE(commit->Wait(ticket));
        EXPECT_FALSE(commit->IsDurable(ticket));
      }
      EXPECT_TRUE(commit->failure());
      EXPECT_EQ(commit->Submit(AsBytes("x")).error().kind, ErrorKind::kPoisoned);
      EXPECT_FALSE(commit->Run([](Journal&) -> Status { return {}; }));
      disk.fail_call.reset();
    }
    disk.Kill();
    OpenJournal journal(disk);
    ASSERT_TRUE(journal.ok()) << journal.error().Message();
    EXPECT_TRUE(journal->durable_head() == 1 || journal->durable_head() == 5);
  }
}

TEST(GroupCommit, CapacityPushesBack) {
  MemoryDisk disk;
  Options options;
  options.capacity = kCapacityMin;
  Committer commit(disk, options);
  const std::string half(kPrepareBytesMax - kPrepareBytesMin, 'h');
  ASSERT_TRUE(commit->Append(AsBytes(half)));
  EXPECT_TRUE(commit->CheckpointDue());
  const auto second = commit->Submit(AsBytes(half));
  ASSERT_TRUE(second);
  EXPECT_EQ(commit->Submit(AsBytes("")).error().kind, ErrorKind::kCapacity);
  EXPECT_EQ(commit->metrics().refused_for_capacity, 1U);
  ASSERT_TRUE(commit->Run([](Journal& journal) { return journal.Checkpoint(2); }));
  EXPECT_TRUE(commit->IsDurable(*second));
  EXPECT_TRUE(commit->Append(AsBytes("room again")));
}

// One writer stands still; what it has not written is acknowledged by nobody, what it wrote before
// still is, and another journal goes on.
TEST(GroupCommit, stalled_writer_does_not_release_acks_or_block_another_partition) {
  MemoryDisk disk;
  MemoryDisk other_disk;
  Committer commit(disk);
  const auto other_storage = other_disk.Attach();
  const auto other = GroupCommit::Start(*other_storage, "other", {}, {});
  ASSERT_TRUE(other);
  const auto before = commit->Append(AsBytes("before"));
  ASSERT_TRUE(before);
  std::latch entered(1);
  std::latch release(1);
  std::jthread holder([&] {
    EXPECT_TRUE(commit->Run([&](Journal&) -> Status {
      entered.count_down();
      release.wait();
      return {};
    }));
  });
  entered.wait();
  const auto pending = commit->Submit(AsBytes("pending"));
  ASSERT_TRUE(pending);
  EXPECT_TRUE((*other)->Append(AsBytes("elsewhere")));
  EXPECT_TRUE(commit->IsDurable(*before));
  EXPECT_FALSE(commit->IsDurable(*pending));
  EXPECT_EQ(commit->durable_head(), 1U);
  release.count_down();
  EXPECT_TRUE(commit->Wait(*pending));
}

TEST(GroupCommit, TruncationWithdrawsAtOnce) {
  MemoryDisk disk = DiskWith(2);
  {
    Committer commit(disk);
    const auto tickets = commit.SubmitTogether(3, 10);
    ASSERT_TRUE(commit->Wait(tickets.back()));
    ASSERT_TRUE(commit->TruncateFrom(4));
    EXPECT_TRUE(commit->IsDurable(tickets[0]));
    EXPECT_FALSE(commit->IsDurable(tickets[1]));
    EXPECT_EQ(commit->Wait(tickets[2]).error().kind, ErrorKind::kInvalid);
    const auto again = commit->Append(AsBytes("another 4"));
    ASSERT_TRUE(again);
    EXPECT_EQ(again->op, 4U);
    EXPECT_FALSE(commit->IsDurable(tickets[1]));
    EXPECT_TRUE(commit->TruncateFrom(9));  // Beyond the head: leaves no gap.
    EXPECT_EQ(commit->Append(AsBytes("five"))->op, 5U);
    EXPECT_EQ(commit->TruncateFrom(0).error().kind, ErrorKind::kInvalid);
  }
  disk.Kill();
  EXPECT_EQ(OpenJournal(disk)->head(), 5U);
}

TEST(GroupCommit, ChangesOfTheChainPauseAdmission) {
  MemoryDisk disk = DiskWith(2);
  Committer commit(disk);
  Result<Ticket> meanwhile = Ticket{};
  ASSERT_TRUE(commit->Run(
      [&](Journal& journal) {
        meanwhile = commit->Submit(AsBytes("too early"));
        return journal.Reset(10, std::nullopt);
      },
      Admission::kPaused));
  EXPECT_EQ(meanwhile.error().kind, ErrorKind::kCapacity);
  EXPECT_EQ(commit->Append(AsBytes("eleven"))->op, 11U);
  EXPECT_EQ(commit->Run([](Journal& journal) { return journal.Checkpoint(99); }).error().kind,
            ErrorKind::kInvalid);
  EXPECT_FALSE(commit->failure());
}

TEST(GroupCommit, DuplicatesAreAcceptedAgain) {
  MemoryDisk disk;
  Committer commit(disk);
  const Prepare first = MakePrepare(1, 0, "one");
  const Prepare other = MakePrepare(1, 0, "another one");
  ASSERT_TRUE(commit->SubmitPrepare(first));
  const auto again = commit->SubmitPrepare(first);
  ASSERT_TRUE(again && commit->Wait(*again));
  EXPECT_EQ(commit->SubmitPrepare(other).error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(commit->accepted_head(), 1U);
}

TEST(GroupCommit, a_group_commit_delay_admits_prepares_that_arrive_during_the_wait) {
  MemoryDisk disk;
  GroupCommitOptions options;
  options.delay = std::chrono::hours(1);  // Ends when the group is full.
  Committer commit(disk, {}, options);
  const auto tickets = commit.SubmitTogether(2, 10);
  std::vector<Ticket> rest;
  for (std::size_t i = 2; i < kGroupOpsMax; ++i) rest.push_back(*commit->Submit(AsBytes("late")));
  ASSERT_TRUE(commit->Wait(rest.back()));
  EXPECT_EQ(commit->metrics().completed_batches, 1U);
  EXPECT_EQ(commit->metrics().batched_prepares, kGroupOpsMax);
  EXPECT_EQ(commit->metrics().delay_waits, 1U);
}

TEST(GroupCommit, a_group_commit_delay_is_skipped_when_arrivals_outlast_it) {
  MemoryDisk disk;
  GroupCommitOptions options;
  // Two appends that each copy and hash a MiB cannot come closer together.
  options.delay = std::chrono::microseconds(1);
  Committer commit(disk, {}, options);
  const auto tickets = commit.SubmitTogether(2, 1 << 20);
  ASSERT_TRUE(commit->Wait(tickets.back()));
  EXPECT_EQ(commit->metrics().delay_waits, 0U);
}

TEST(GroupCommit, checkpoint_notifies_before_reclaiming_its_obsolete_generation) {
  MemoryDisk disk = DiskWith(3);
  Committer commit(disk);
  bool there = false;
  ASSERT_TRUE(commit->Run([&](Journal& journal) -> Status {
    JOURNAL_TRY(journal.Checkpoint(2));
    there = disk.Read(DataFileName(0)).has_value();
    return {};
  }));
  EXPECT_TRUE(there);
  commit.Stop();
  EXPECT_FALSE(disk.Read(DataFileName(0)));
}

TEST(GroupCommit,
     given_sim_storage_when_opening_persistence_then_the_writer_lease_should_be_taken) {
  MemoryDisk disk;
  {
    Committer first(disk);
    ASSERT_TRUE(first.ok());
    EXPECT_EQ(Committer(disk).error().kind, ErrorKind::kLocked);
  }
  disk.Kill();
  EXPECT_TRUE(Committer(disk).ok());
}

class OnDisk : public testing::Test {
 protected:
  OnDisk() {
    std::string path = (fs::temp_directory_path() / "tornfs-journal-XXXXXX").string();
    EXPECT_NE(::mkdtemp(path.data()), nullptr);
    folder_ = path;
  }
  ~OnDisk() override { fs::remove_all(folder_); }

  fs::path folder_;
};

TEST_F(OnDisk, TwentyFourThreadsShareTheWriter) {
  constexpr int kThreads = 24;
  constexpr int kEach = 40;
  for (const bool owned : {false, true}) {
    PosixStorage storage((folder_ / (owned ? "owned" : "plain")).string());
    std::atomic<int> acknowledged{0};
    {
      auto commit = GroupCommit::Start(storage, owned ? "owned" : "plain", {}, {});
      ASSERT_TRUE(commit) << commit.error().Message();
      if (owned) {
        ASSERT_TRUE((*commit)->Run(
            [](Journal& journal) { return journal.EnableSegments(0, 65536); }, Admission::kPaused));
      }
      std::vector<std::jthread> threads;
      for (int i = 0; i < kThreads; ++i) {
        threads.emplace_back([&] {
          for (int n = 0; n < kEach; ++n) {
            const auto ticket = (*commit)->Append(AsBytes("from one of many threads"));
            if (ticket && (*commit)->IsDurable(*ticket)) ++acknowledged;
          }
        });
      }
      threads.clear();
      EXPECT_EQ((*commit)->metrics().batched_prepares, std::uint64_t{kThreads * kEach});
    }
    EXPECT_EQ(acknowledged, kThreads * kEach);
    const auto journal = Journal::Open(storage, Without({Rule::kLockDirectory}));
    ASSERT_TRUE(journal) << journal.error().Message();
    EXPECT_EQ((*journal)->head(), std::uint64_t{kThreads * kEach});
  }
}

std::size_t OpenDescriptors() {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator()));
}

TEST_F(OnDisk, AHundredCyclesLeakNothing) {
  const auto cycle = [this] {
    PosixStorage storage((folder_ / "j").string());
    const auto commit = GroupCommit::Start(storage, "cycle", {}, {});
    ASSERT_TRUE(commit) << commit.error().Message();
    ASSERT_TRUE((*commit)->Append(AsBytes("one more")));
    ASSERT_TRUE(
        (*commit)->Run([](Journal& journal) { return journal.Checkpoint(journal.head()); }));
  };
  cycle();
  const std::size_t before = OpenDescriptors();
  for (int i = 0; i < 100; ++i) cycle();
  EXPECT_EQ(OpenDescriptors(), before);
  const auto files = std::distance(fs::directory_iterator(folder_ / "j"), fs::directory_iterator());
  EXPECT_EQ(files, 3);  // lock, frontier and one generation.
}

}  // namespace
}  // namespace tornfs::journal
