// Every call that publishes: what a kill, a torn slot, a damaged slot and crashes inside the open
// that follows leave of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "fixture.h"
#include "journal/verify.h"

namespace tornfs::journal {
namespace {

using Bytes = MemoryDisk::Bytes;
using Promises = std::vector<Promise>;

const std::string kFrontier(kFrontierName);

// A call on a journal of four durable messages, and the least op that it takes back.
struct Publisher {
  std::string name;
  std::function<Status(OpenJournal&)> call;
  std::uint64_t withdraws_from = UINT64_MAX;
};

const std::vector<Publisher>& Publishers() {
  static const std::vector<Publisher> publishers{
      {"append",
       [](OpenJournal& journal) -> Status {
         JOURNAL_TRY(journal.AppendMessage("five"));
         return journal->Sync();
       }},
      {"certify",
       [](OpenJournal& journal) {
         const State& state = journal->state();
         return journal->CertifyLogView(2, state.head, state.head_checksum);
       }},
      {"checkpoint", [](OpenJournal& journal) { return journal->Checkpoint(2); }},
      {"checkpoint_with_a_buffered_tail",
       [](OpenJournal& journal) -> Status {
         JOURNAL_TRY(journal.AppendMessage("buffered"));
         return journal->Checkpoint(2);
       }},
      {"truncate", [](OpenJournal& journal) { return journal->TruncateFrom(3); }, 3},
      {"purge", [](OpenJournal& journal) { return journal->MarkPurge(1, 3); }},
      {"enable_segments", [](OpenJournal& journal) { return journal->EnableSegments(0, 600); }},
      {"reset", [](OpenJournal& journal) { return journal->Reset(9, 77); }, 1}};
  return publishers;
}

MemoryDisk FourMessages() {
  MemoryDisk disk;
  OpenJournal journal(disk);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(journal.AppendMessage("message") && journal->Sync());
  MemoryDisk copy = disk;
  copy.Kill();
  return copy;
}

void PromiseAll(const Journal& journal, Promises& promises) {
  std::uint64_t op = journal.first_op();
  for (const Entry& entry : journal.entries()) {
    if (op <= journal.durable_head()) {
      promises.push_back({PromiseKind::kAcknowledged, op, entry.checksum});
    }
    ++op;
  }
}

// What holds however the call ends.
Promises Before(const Publisher& publisher) {
  MemoryDisk disk = FourMessages();
  Promises promises;
  PromiseAll(*OpenJournal(disk), promises);
  std::erase_if(promises, [&](const Promise& p) { return p.op >= publisher.withdraws_from; });
  return promises;
}

// Empty, or what is wrong with the disk.
std::string Judge(const MemoryDisk& disk, const Promises& promises) {
  MemoryDisk copy = disk;
  copy.Kill();
  const auto storage = copy.Attach();
  const auto snapshot = LoadSnapshot(*storage, {});
  if (!snapshot) return "refused: " + snapshot.error().Message();
  return FindBrokenPromise(*snapshot, promises).value_or("");
}

// A slot has been written and its barrier has not come.
struct SlotWrite {
  MemoryDisk after;
  Bytes old;  // The frontier before it.
};

std::vector<SlotWrite> SlotWrites(const Publisher& publisher) {
  std::vector<SlotWrite> writes;
  Bytes last = FourMessages().Read(kFrontier).value();
  for (int effect = 0;; ++effect) {
    MemoryDisk disk = FourMessages();
    {
      OpenJournal journal(disk);
      disk.stop_after_effect = disk.effects() + effect;
      if (publisher.call(journal)) return writes;
    }
    const Bytes frontier = disk.Read(kFrontier).value();
    if (frontier != last) writes.push_back({disk, last});
    last = frontier;
  }
}

class Publication : public testing::TestWithParam<Publisher> {};

// H.1: killed between the slot's write and its barrier; the next process reports what it finds, and
// the power goes.
TEST_P(Publication, KilledBeforeTheBarrierIsKeptOnceReported) {
  const std::vector<SlotWrite> writes = SlotWrites(GetParam());
  ASSERT_FALSE(writes.empty());
  for (const SlotWrite& write : writes) {
    MemoryDisk killed = write.after;
    killed.Kill();
    Promises promises = Before(GetParam());
    {
      OpenJournal journal(killed);
      ASSERT_TRUE(journal.ok()) << journal.error().Message();
      PromiseAll(*journal, promises);
    }
    for (std::uint64_t seed = 0; seed < 32; ++seed) {
      MemoryDisk dark = killed;
      Rng rng(seed);
      dark.PowerLoss(rng, Tear::kByte);
      EXPECT_EQ(Judge(dark, promises), "") << seed;
      EXPECT_TRUE(OpenJournal(dark).ok());
    }
  }
}

// H.2, H.3: the slot torn at every byte; the reopened journal appends, unsynced, and the power goes
// again.
TEST_P(Publication, ATearAtEveryByteIsSurvivedTwice) {
  const Promises before = Before(GetParam());
  for (const SlotWrite& write : SlotWrites(GetParam())) {
    const auto at = static_cast<std::ptrdiff_t>(NewestPosition(write.after) * kBlockBytes);
    const Bytes fresh = write.after.Read(kFrontier).value();
    Rng rng(1);
    for (std::ptrdiff_t cut = 1; cut <= 224; ++cut) {
      MemoryDisk torn = write.after;
      torn.PowerLoss(rng, Tear::kNone);
      Bytes frontier = fresh;
      std::copy(write.old.begin() + at + cut, write.old.begin() + at + kBlockBytes,
                frontier.begin() + at + cut);
      torn.Put(kFrontier, frontier);
      Promises promises = before;
      ASSERT_EQ(Judge(torn, promises), "") << cut;
      {
        OpenJournal journal(torn);
        ASSERT_TRUE(journal.ok()) << cut << journal.error().Message();
        PromiseAll(*journal, promises);
        ASSERT_TRUE(journal.AppendMessage("buffered"));
      }
      for (std::uint64_t seed = 0; seed < 4; ++seed) {
        MemoryDisk dark = torn;
        Rng second(static_cast<std::uint64_t>(cut) * 4 + seed);
        dark.PowerLoss(second, Tear::kByte);
        ASSERT_EQ(Judge(dark, promises), "") << cut << " " << seed;
      }
    }
  }
}

// H.7, H.16: once the call has returned, either slot alone leads to what it did.
TEST_P(Publication, DamageToTheNewestSlotChangesNothing) {
  MemoryDisk disk = FourMessages();
  State state;
  {
    OpenJournal journal(disk);
    ASSERT_TRUE(GetParam().call(journal));
    state = journal->state();
  }
  DamageSlot(disk, NewestPosition(disk));
  OpenJournal journal(disk);
  ASSERT_TRUE(journal.ok()) << journal.error().Message();
  EXPECT_EQ(journal->state(), state);
}

INSTANTIATE_TEST_SUITE_P(Calls, Publication, testing::ValuesIn(Publishers()),
                         [](const auto& param) { return param.param.name; });

// A disk before an open that has something to repair.
MemoryDisk ToRepair(int kind) {
  if (kind == 0) return {};  // Nothing there yet.
  MemoryDisk disk = DiskWithSegments(3);
  {
    OpenJournal journal(disk);
    EXPECT_TRUE(journal.AppendMessage("four") && journal.AppendMessage("five"));
    // Where a slot is damaged everything is durable: see the table, row 15.
    EXPECT_TRUE(kind != 2 || journal->Sync());
  }
  disk.Kill();
  if (kind == 2) DamageSlot(disk, NewestPosition(disk));
  if (kind == 3) disk.Put(DataFileName(7), Bytes(kBlockBytes));
  return disk;
}

class InsideOpen : public testing::TestWithParam<int> {
 protected:
  // Stops an open of `disk` after each of its effects, loses the power or only the process, and
  // goes on from there `levels` - 1 more times.
  void Crash(const MemoryDisk& disk, std::uint64_t durable, int levels) {
    MemoryDisk whole = disk;
    {
      OpenJournal journal(whole);
      ASSERT_TRUE(journal.ok()) << journal.error().Message();
      EXPECT_GE(journal->durable_head(), durable);
    }
    whole.Kill();
    const auto repaired = whole.Contents();
    EXPECT_TRUE(OpenJournal(whole).ok());
    EXPECT_EQ(whole.Contents(), repaired);  // A second open has nothing to do.
    ++opens_;
    if (levels == 0) return;
    for (int effect = 0;; ++effect) {
      MemoryDisk stopped = disk;
      stopped.stop_after_effect = stopped.effects() + effect;
      { const OpenJournal journal(stopped); }
      if (!stopped.stopped()) return;
      MemoryDisk dark = stopped;
      Rng rng(static_cast<std::uint64_t>(opens_));
      dark.PowerLoss(rng, Tear::kByte);
      Crash(dark, durable, levels - 1);
      stopped.Kill();
      Crash(stopped, durable, levels - 1);
      if (HasFatalFailure()) return;
    }
  }

  int opens_ = 0;
};

TEST_P(InsideOpen, ThreeCrashesInARowAndEveryRecoveryIsIdempotent) {
  constexpr std::uint64_t kDurable[] = {0, 3, 5, 3};
  Crash(ToRepair(GetParam()), kDurable[GetParam()], 3);
  EXPECT_GT(opens_, 100);
}

INSTANTIATE_TEST_SUITE_P(Disks, InsideOpen, testing::Values(0, 1, 2, 3));

}  // namespace
}  // namespace tornfs::journal
