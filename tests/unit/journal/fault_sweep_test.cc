// Failing calls: every script is run once per storage call with that call failing, in every way a
// call can fail. Whatever was acknowledged survives, and the journal opens again.
#include <gtest/gtest.h>

#include <cerrno>
#include <functional>

#include "fixture.h"
#include "journal/verify.h"

namespace tornfs::journal {
namespace {

using Promises = std::vector<Promise>;
using Script = std::function<Status(OpenJournal&, Promises&)>;

void PromiseAll(const Journal& journal, Promises& promises) {
  std::uint64_t op = journal.first_op();
  for (const Entry& entry : journal.entries()) {
    if (op > journal.durable_head()) break;
    promises.push_back({PromiseKind::kAcknowledged, op++, entry.checksum});
  }
}

void Withdraw(std::uint64_t from, Promises& promises) {
  std::erase_if(promises, [from](const Promise& promise) { return promise.op >= from; });
}

Status AppendGroups(OpenJournal& journal, Promises& promises, int groups) {
  for (int i = 0; i < groups; ++i) {
    JOURNAL_TRY(journal.AppendMessage("first of group"));
    JOURNAL_TRY(journal.AppendMessage(std::string(5000, 'x')));
    JOURNAL_TRY(journal->Sync());
    PromiseAll(*journal, promises);
  }
  return {};
}

Status Plain(OpenJournal& journal, Promises& promises) {
  JOURNAL_TRY(AppendGroups(journal, promises, 2));
  const State& state = journal->state();
  JOURNAL_TRY(journal->CertifyLogView(2, state.head, state.head_checksum));
  JOURNAL_TRY(journal.AppendMessage("buffered"));
  JOURNAL_TRY(journal->Checkpoint(2));
  PromiseAll(*journal, promises);
  Withdraw(5, promises);
  JOURNAL_TRY(journal->TruncateFrom(5));
  JOURNAL_TRY(journal->MarkPurge(1, 3));
  return AppendGroups(journal, promises, 1);
}

Status Owned(OpenJournal& journal, Promises& promises) {
  JOURNAL_TRY(AppendGroups(journal, promises, 1));
  JOURNAL_TRY(journal->EnableSegments(0, 3000));
  JOURNAL_TRY(AppendGroups(journal, promises, 2));
  JOURNAL_TRY(journal->Checkpoint(2));
  Withdraw(5, promises);
  JOURNAL_TRY(journal->TruncateFrom(5));
  JOURNAL_TRY(AppendGroups(journal, promises, 1));
  JOURNAL_TRY(journal->MarkPurge(1, journal->head()));
  return AppendGroups(journal, promises, 1);
}

Status References(OpenJournal& journal, Promises& promises) {
  JOURNAL_TRY(AppendGroups(journal, promises, 1));
  for (std::uint64_t i = 0; i < 3; ++i) {
    JOURNAL_TRY(journal.AppendReference(i, i + 2, "message"));
    JOURNAL_TRY(journal->Sync());
    PromiseAll(*journal, promises);
  }
  JOURNAL_TRY(journal->Checkpoint(4));
  JOURNAL_TRY(journal->MarkPurge(1, 4));
  Withdraw(5, promises);
  return journal->TruncateFrom(5);
}

Status Resets(OpenJournal& journal, Promises& promises) {
  JOURNAL_TRY(AppendGroups(journal, promises, 1));
  Withdraw(2, promises);
  JOURNAL_TRY(journal->Reset(7, 42));
  JOURNAL_TRY(AppendGroups(journal, promises, 1));
  const Prepare checkpoint = MakePrepare(20, 1, "transferred");
  Withdraw(1, promises);
  JOURNAL_TRY(journal->ResetWithPrepare(checkpoint));
  return AppendGroups(journal, promises, 1);
}

struct Fault {
  int error;
  bool half_way;
  bool forgets;
};

// A call that does nothing, for two reasons; a short write; a barrier after which the system has
// forgotten what to write.
constexpr Fault kFaults[] = {
    {EIO, false, false}, {ENOSPC, false, false}, {ENOSPC, true, false}, {EIO, false, true}};

// Empty, or what is wrong with the disk.
std::string Judge(const MemoryDisk& disk, const Promises& promises) {
  MemoryDisk copy = disk;
  copy.Kill();
  OpenJournal journal(copy);
  if (!journal.ok()) return "refused: " + journal.error().Message();
  const auto storage = copy.Attach();
  const auto snapshot = LoadSnapshot(*storage, {});
  if (!snapshot) return "unreadable: " + snapshot.error().Message();
  return FindBrokenPromise(*snapshot, promises).value_or("");
}

// Whether the call was reached.
bool FailAt(const Script& script, int call, const Fault& fault) {
  MemoryDisk disk = DiskWith(0);
  Promises promises;
  Status done;
  {
    OpenJournal journal(disk);
    disk.fail_call = disk.calls() + call;
    disk.fail_errno = fault.error;
    disk.fail_half_way = fault.half_way;
    disk.fail_forgets = fault.forgets;
    done = script(journal, promises);
    EXPECT_EQ(journal->poisoned(), !done && journal->Sync().error().kind == ErrorKind::kPoisoned);
  }
  const bool reached = disk.calls() > *disk.fail_call;
  disk.fail_call.reset();
  disk.Kill();
  EXPECT_EQ(Judge(disk, promises), "") << "call " << call;
  // What a second process finds, reports and goes on with must be on the disk as well.
  {
    OpenJournal journal(disk);
    if (journal.ok()) {
      PromiseAll(*journal, promises);
      EXPECT_TRUE(AppendGroups(journal, promises, 1)) << "call " << call;
    }
  }
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    MemoryDisk dark = disk;
    Rng rng(seed);
    dark.PowerLoss(rng, Tear::kSector);
    EXPECT_EQ(Judge(dark, promises), "") << "call " << call << " seed " << seed;
  }
  return reached;
}

class FaultSweep : public testing::TestWithParam<std::pair<const char*, Script>> {};

TEST_P(FaultSweep, NoAcknowledgmentIsBroken) {
  for (const Fault& fault : kFaults) {
    int call = 0;
    while (FailAt(GetParam().second, call, fault)) {
      ASSERT_LT(++call, 2000);
      if (testing::Test::HasFailure()) return;
    }
    EXPECT_GT(call, 20);
  }
}

INSTANTIATE_TEST_SUITE_P(Scripts, FaultSweep,
                         testing::Values(std::pair<const char*, Script>{"plain", Plain},
                                         std::pair<const char*, Script>{"owned", Owned},
                                         std::pair<const char*, Script>{"references", References},
                                         std::pair<const char*, Script>{"resets", Resets}),
                         [](const auto& param) { return std::string(param.param.first); });

// The open of a folder that holds no journal yet.
TEST(FaultSweepOfOpen, first_open_recovers_after_each_initialization_fault) {
  for (const Fault& fault : kFaults) {
    for (int call = 0;; ++call) {
      MemoryDisk disk;
      disk.fail_call = call;
      disk.fail_errno = fault.error;
      disk.fail_half_way = fault.half_way;
      disk.fail_forgets = fault.forgets;
      const bool opened = OpenJournal(disk).ok();
      const bool reached = disk.calls() > call;
      disk.fail_call.reset();
      disk.Kill();
      for (std::uint64_t seed = 0; seed < 16; ++seed) {
        MemoryDisk dark = disk;
        Rng rng(seed);
        if (seed > 0) dark.PowerLoss(rng, Tear::kByte);
        OpenJournal journal(dark);
        ASSERT_TRUE(journal.ok()) << "call " << call << ": " << journal.error().Message();
        EXPECT_TRUE(journal.AppendDurably("first"));
      }
      if (!reached) break;
      EXPECT_LT(call, 100);
      EXPECT_TRUE(call > 0 || !opened);
    }
  }
}

// H.10: a barrier fails, the system forgets what it should have written, and a restart in the same
// boot believes what it reads.
int LossesAfterFailedBarrier(const Options& options) {
  int losses = 0;
  for (int call = 0; call < 4; ++call) {
    MemoryDisk disk = DiskWith(1);
    {
      OpenJournal journal(disk, options);
      disk.fail_call = disk.calls() + call;
      disk.fail_forgets = true;
      EXPECT_FALSE(journal.AppendDurably("two"));
      disk.fail_call.reset();
    }
    disk.Kill();
    Promises promises;
    {
      OpenJournal journal(disk, options);
      if (journal.ok()) PromiseAll(*journal, promises);
    }
    Rng rng(7);
    disk.PowerLoss(rng, Tear::kNone);
    losses += Judge(disk, promises).empty() ? 0 : 1;
  }
  return losses;
}

TEST(Hole, H10EverythingIsWrittenAgainAfterAFailedBarrier) {
  EXPECT_EQ(LossesAfterFailedBarrier({}), 0);
  EXPECT_GT(LossesAfterFailedBarrier(Without({Rule::kRewriteAfterFailedBarrier})), 0);
}

TEST(Hole, H10TheMarkGoesWhenItHasServed) {
  MemoryDisk disk = DiskWith(1);
  {
    OpenJournal journal(disk);
    disk.fail_call = disk.calls() + 1;
    EXPECT_FALSE(journal.AppendDurably("two"));
  }
  EXPECT_TRUE(disk.Read(std::string(kSuspectName)));
  EXPECT_TRUE(OpenJournal(disk).ok());
  EXPECT_FALSE(disk.Read(std::string(kSuspectName)));
}

}  // namespace
}  // namespace tornfs::journal
