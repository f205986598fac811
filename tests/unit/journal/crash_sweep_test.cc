// Every script is stopped after every storage call that changes something, by a kill or a power
// loss, and reopened; the reopened process is stopped in turn. Whatever was ever reported durable
// must still be there, and no open may be refused.
//
// Crash plans, for each stopping point of the script, where a power loss means one per seed:
//   kill or power              then open
//   kill or power, power       open, go on in one of three ways, lose the power, open
//   kill or power, stop, ...   the open is itself stopped after every effect: power loss, then
//   open;
//                              or kill, open, power loss, open
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "fixture.h"
#include "journal/verify.h"

namespace tornfs::journal {
namespace {

using Promises = std::vector<Promise>;
using Script = std::function<void(OpenJournal&, Promises&)>;

void PromiseAll(const Journal& journal, Promises& promises) {
  std::uint64_t op = journal.first_op();
  for (const Entry& entry : journal.entries()) {
    if (op > journal.durable_head()) break;
    promises.push_back({PromiseKind::kAcknowledged, op++, entry.checksum});
  }
}

struct Tally {
  int states = 0;
  int losses = 0;
  int refusals = 0;
  std::string first;  // What went wrong first, and where.

  [[nodiscard]] int violations() const { return losses + refusals; }
};

enum class Until { kEnd, kFirstViolation };

// What the reopened process does before it is stopped.
enum class Next { kIdle, kBuffer, kAppend };

class Sweep {
 public:
  Sweep(Script script, const Options& options, Tear tear, Until until)
      : script_(std::move(script)), options_(options), tear_(tear), until_(until) {}

  Tally Run() {
    for (int stop = 0;; ++stop) {
      MemoryDisk disk;
      disk.stop_after_effect = stop;
      Promises promises;
      {
        OpenJournal journal(disk, options_);
        if (journal.ok()) {
          PromiseAll(*journal, promises);
          script_(journal, promises);
        }
      }
      where_ = "script effect " + std::to_string(stop);
      AfterScript(disk, promises);
      if (!disk.stopped() || Enough()) return tally_;
    }
  }

 private:
  static constexpr std::uint64_t kSeeds = 4;
  // First power losses that are judged but not followed further.
  static constexpr std::uint64_t kShallowSeeds = 32;

  [[nodiscard]] bool Enough() const {
    return until_ == Until::kFirstViolation && tally_.violations() > 0;
  }

  void AfterScript(const MemoryDisk& disk, const Promises& promises) {
    MemoryDisk killed = disk;
    killed.Kill();
    Reopen(killed, promises, "kill");
    for (std::uint64_t seed = 0; seed < kSeeds + kShallowSeeds; ++seed) {
      MemoryDisk dark = disk;
      Rng rng(seed);
      dark.PowerLoss(rng, tear_);
      const std::string how = "power " + std::to_string(seed);
      if (seed < kSeeds) {
        Reopen(dark, promises, how);
      } else {
        (void)Judge(dark, promises, how);
      }
    }
  }

  void Reopen(const MemoryDisk& disk, const Promises& promises, const std::string& how) {
    if (!Judge(disk, promises, how)) return;
    for (const Next next : {Next::kIdle, Next::kBuffer, Next::kAppend}) {
      MemoryDisk second = disk;
      Promises more = promises;
      {
        OpenJournal journal(second, options_);
        if (!journal.ok()) return;
        GoOn(journal, next, more);
      }
      LosePower(second, more, how + ", reopened");
    }
    StopInsideOpen(disk, promises, how);
  }

  static void GoOn(OpenJournal& journal, Next next, Promises& promises) {
    if (next != Next::kIdle) {
      EXPECT_TRUE(journal->state().segments ? journal.AppendMessage("after the crash")
                                            : journal.Append("after the crash"));
    }
    if (next == Next::kAppend) {
      EXPECT_TRUE(journal->Sync());
    }
    PromiseAll(*journal, promises);
  }

  void StopInsideOpen(const MemoryDisk& disk, const Promises& promises, const std::string& how) {
    for (int stop = 0;; ++stop) {
      MemoryDisk second = disk;
      const int begin = second.effects();
      second.stop_after_effect = begin + stop;
      { const OpenJournal journal(second, options_); }
      if (!second.stopped()) return;
      const std::string inside = how + ", open effect " + std::to_string(stop);
      LosePower(second, promises, inside);
      second.Kill();
      Promises more = promises;
      {
        OpenJournal journal(second, options_);
        if (!journal.ok()) continue;
        GoOn(journal, Next::kIdle, more);
      }
      LosePower(second, more, inside + ", kill, reopened");
    }
  }

  void LosePower(const MemoryDisk& disk, const Promises& promises, const std::string& how) {
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      MemoryDisk dark = disk;
      Rng rng(seed ^ (static_cast<std::uint64_t>(tally_.states) << 8));
      dark.PowerLoss(rng, tear_);
      (void)Judge(dark, promises, how + ", power");
    }
  }

  // Opens read-only and compares with what was promised.
  bool Judge(const MemoryDisk& disk, const Promises& promises, const std::string& how) {
    ++tally_.states;
    MemoryDisk copy = disk;
    copy.Kill();
    const auto storage = copy.Attach();
    const auto snapshot = LoadSnapshot(*storage, options_);
    std::optional<std::string> finding;
    if (!snapshot) {
      ++tally_.refusals;
      finding = "refused: " + snapshot.error().Message();
    } else if ((finding = FindBrokenPromise(*snapshot, promises))) {
      ++tally_.losses;
    }
    if (!finding) return true;
    if (tally_.first.empty()) tally_.first = where_ + ", " + how + ": " + *finding;
    return false;
  }

  Script script_;
  Options options_;
  Tear tear_;
  Until until_;
  std::string where_;
  Tally tally_;
};

void AppendSome(OpenJournal& journal, Promises& promises, int count) {
  for (int i = 0; i < count; ++i) {
    if (!journal.AppendDurably("record " + std::to_string(i))) return;
    PromiseAll(*journal, promises);
  }
}

// Groups of one to three records, some larger than a block.
void AppendGroups(OpenJournal& journal, Promises& promises) {
  for (int group = 1; group <= 3; ++group) {
    for (int i = 0; i < group; ++i) {
      if (!journal.Append(std::string(i == 1 ? 6000 : 10, 'g'))) return;
    }
    if (!journal->Sync()) return;
    PromiseAll(*journal, promises);
  }
}

void Certify(OpenJournal& journal, Promises& promises) {
  AppendSome(journal, promises, 1);
  const State& state = journal->state();
  (void)journal->CertifyLogView(2, state.head, state.head_checksum);
}

void CheckpointWithBufferedTail(OpenJournal& journal, Promises& promises) {
  AppendSome(journal, promises, 2);
  if (!journal.Append("buffered") || !journal->Checkpoint(1)) return;
  PromiseAll(*journal, promises);
  AppendSome(journal, promises, 1);
}

void TruncateAndReplace(OpenJournal& journal, Promises& promises) {
  AppendSome(journal, promises, 3);
  std::erase_if(promises, [](const Promise& promise) { return promise.op >= 2; });
  if (!journal->TruncateFrom(2)) return;
  PromiseAll(*journal, promises);
  AppendSome(journal, promises, 1);
}

// Segments are enabled over messages that are there, filled beyond two of them, and cut back.
void OwnedSegments(OpenJournal& journal, Promises& promises) {
  const auto messages = [&](int count) {
    for (int i = 0; i < count; ++i) {
      if (!journal.AppendMessage("message")) return false;
    }
    if (!journal->Sync()) return false;
    PromiseAll(*journal, promises);
    return true;
  };
  if (!messages(1) || !journal->EnableSegments(0, 500) || !messages(4)) return;
  if (!journal->Checkpoint(2)) return;
  std::erase_if(promises, [](const Promise& promise) { return promise.op >= 4; });
  if (!journal->TruncateFrom(4) || !messages(2)) return;
  if (!journal->MarkPurge(1, journal->head())) return;
  (void)messages(1);
}

void References(OpenJournal& journal, Promises& promises) {
  AppendSome(journal, promises, 1);
  for (std::uint64_t i = 0; i < 2; ++i) {
    if (!journal.AppendReference(i, i, "message") || !journal->Sync()) return;
    PromiseAll(*journal, promises);
  }
  (void)journal->Checkpoint(2);
}

void PurgeAndReset(OpenJournal& journal, Promises& promises) {
  AppendSome(journal, promises, 2);
  if (!journal->MarkPurge(1, 1)) return;
  std::erase_if(promises, [](const Promise& promise) { return promise.op >= 2; });
  if (!journal->Reset(1, 9)) return;
  AppendSome(journal, promises, 1);
}

const std::vector<std::pair<std::string, Script>>& Scripts() {
  static const std::vector<std::pair<std::string, Script>> scripts{
      {"append", AppendGroups},
      {"certify", Certify},
      {"checkpoint", CheckpointWithBufferedTail},
      {"truncate", TruncateAndReplace},
      {"segments", OwnedSegments},
      {"references", References},
      {"purge", PurgeAndReset}};
  return scripts;
}

Tally RunAll(const Options& options, Tear tear, Until until = Until::kEnd) {
  Tally sum;
  for (const auto& [name, script] : Scripts()) {
    const Tally tally = Sweep(script, options, tear, until).Run();
    if (until == Until::kFirstViolation && tally.violations() > 0) return tally;
    sum.states += tally.states;
    sum.losses += tally.losses;
    sum.refusals += tally.refusals;
    if (sum.first.empty() && !tally.first.empty()) sum.first = name + ": " + tally.first;
  }
  return sum;
}

class CrashSweep : public testing::TestWithParam<Tear> {};

TEST_P(CrashSweep, TheJournalLosesNothing) {
  const Tally tally = RunAll({}, GetParam());
  EXPECT_EQ(tally.violations(), 0) << tally.first;
  EXPECT_GT(tally.states, 10000);
}

INSTANTIATE_TEST_SUITE_P(Tears, CrashSweep, testing::Values(Tear::kSector, Tear::kByte));

// These guard against media faults, failing calls and other writers: no crash shows their absence,
// not even all of them at once.
TEST(CrashSweepWithout, RulesThatNoCrashNeeds) {
  const Options options = Without(
      {Rule::kIgnoreCapacityAtRecovery, Rule::kRefuseShortFrontier, Rule::kPublishTwiceAfterRewrite,
       Rule::kNextGenerationAboveDisk, Rule::kLockDirectory, Rule::kCheckSlotRedundancy,
       Rule::kReadSlotsSeparately, Rule::kVerifyBeforeInstall, Rule::kVerifyTailChain,
       Rule::kSyncAdoptedBodies, Rule::kPublishMetadataTwice, Rule::kCancelReclaimOnReuse,
       Rule::kReclaimPastFailures, Rule::kReclaimOffAppend, Rule::kRewriteAfterFailedBarrier,
       Rule::kSyncOriginalWriters, Rule::kValidateAtAppend});
  const Tally tally = RunAll(options, Tear::kByte);
  EXPECT_EQ(tally.violations(), 0) << tally.first;
}

struct Mutant {
  Rule rule;
  Tear tear;  // The mildest that shows it.
};

class CrashMutant : public testing::TestWithParam<Mutant> {};

TEST_P(CrashMutant, IsFound) {
  EXPECT_GT(
      RunAll(Without({GetParam().rule}), GetParam().tear, Until::kFirstViolation).violations(), 0);
}

INSTANTIATE_TEST_SUITE_P(Rules, CrashMutant,
                         testing::Values(Mutant{Rule::kSyncRecordsBeforePublish, Tear::kNone},
                                         Mutant{Rule::kSyncFrontierOnPublish, Tear::kNone},
                                         Mutant{Rule::kSyncFrontierAtOpen, Tear::kNone},
                                         Mutant{Rule::kSyncDirectoryBeforeFrontier, Tear::kNone},
                                         Mutant{Rule::kSyncDirectoryAfterRename, Tear::kNone},
                                         Mutant{Rule::kSyncDirectoryBeforePublish, Tear::kNone},
                                         Mutant{Rule::kSyncDirectoryAtOpen, Tear::kNone},
                                         Mutant{Rule::kSyncBodiesBeforePublish, Tear::kNone},
                                         Mutant{Rule::kSyncLinksBeforePublish, Tear::kNone},
                                         Mutant{Rule::kAcceptReferencesInTail, Tear::kByte},
                                         Mutant{Rule::kSyncOutgoingBeforeRewrite, Tear::kByte},
                                         Mutant{Rule::kRepublishDamagedSlot, Tear::kByte}),
                         [](const testing::TestParamInfo<Mutant>& param) {
                           std::string name(
                               AllRules()[static_cast<std::size_t>(param.param.rule)].name);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace tornfs::journal
