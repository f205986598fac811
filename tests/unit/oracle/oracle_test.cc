#include "harness/oracle/oracle.h"

#include "unit/core/engine_fixture.h"

namespace tornfs::harness {
namespace {

class OracleTest : public EngineFixture {
 protected:
  void Print(const std::string& line) { engine_->AddPromise(line); }

  void Finish() {
    recording_ = engine_->TakeRecording();
    oracle_ = std::make_unique<Oracle>(recording_, *store_);
  }
  // "renamed-unsynced config", for each claim.
  std::multiset<std::string> Claims() {
    std::multiset<std::string> claims;
    for (const Claim& claim : oracle_->claims()) {
      claims.insert(std::string(LintRuleName(claim.rule)) + " " + claim.ways.front().path);
    }
    return claims;
  }
  // Titles of all states that break a claim, at the end and before each line.
  std::set<std::string> Broken() {
    std::set<std::string> broken;
    const auto model = *FindModel("posix");
    for (OpNumber cut = recording_->start.next_op; cut <= recording_->end(); ++cut) {
      const Window window(recording_->BaseAt(cut), *model, Tear::kPage, *store_);
      for (const Choice& choice : window.Enumerate(1 << 12)) {
        const Tree tree = window.State(choice);
        const Claim* claim = oracle_->FirstBroken(tree, cut, recording_->PromisesBefore(cut));
        if (claim == nullptr) continue;
        const std::string damage = Damage(*claim, tree);
        broken.insert(damage.substr(0, damage.find(',')));
      }
    }
    return broken;
  }
  void Old(const std::string& path) {
    Create(path);
    Write(path, "old");
  }

  std::shared_ptr<const Recording> recording_;
  std::unique_ptr<Oracle> oracle_;
};

using Names = std::multiset<std::string>;
using Set = std::set<std::string>;

TEST_F(OracleTest, ReplacedRight) {
  Old("config");
  Begin();
  Create("tmp");
  Write("tmp", "new");
  Fsync("tmp");
  Rename("tmp", "config");
  FsyncDir("");
  Print("saved");
  Finish();
  EXPECT_EQ(Claims(), (Names{"renamed-unsynced config"}));
  EXPECT_EQ(Broken(), Set{});
}

TEST_F(OracleTest, RenamedBeforeItWasSynced) {
  Old("config");
  Begin();
  Create("tmp");
  Write("tmp", "new");
  Rename("tmp", "config");
  Finish();
  EXPECT_EQ(Broken(), (Set{"renamed-unsynced: config does not hold what it should",
                           "renamed-unsynced: config is empty"}));
  EXPECT_EQ(oracle_->claims().front().because,
            "`config` got its name at op 3 before its data was synced");
}

TEST_F(OracleTest, ANewNameIsAbsentOrWhole) {
  Begin();
  Create("tmp");
  Write("tmp", "new");
  Link("tmp", "object");
  Unlink("tmp");
  Finish();
  EXPECT_EQ(Broken(), (Set{"renamed-unsynced: object does not hold what it should",
                           "renamed-unsynced: object is empty"}));
}

TEST_F(OracleTest, RewrittenInPlace) {
  Old("config");
  Begin();
  Truncate("config", 0);
  Write("config", "newer");
  Finish();
  EXPECT_EQ(Broken(), (Set{"rewritten-in-place: config is empty",
                           "rewritten-in-place: config does not hold what it should"}));
}

TEST_F(OracleTest, ABackupStandsForTheOldFile) {
  Old("config");
  Begin();
  Link("config", "config~");
  FsyncDir("");
  Create("tmp");
  Write("tmp", "new");
  Rename("tmp", "config");
  Finish();
  EXPECT_EQ(Broken(), Set{});
}

TEST_F(OracleTest, RemovedBeforeTheReplacementIsDurable) {
  Old("data");
  Begin();
  Create("data.gz");
  Write("data.gz", "packed");
  Unlink("data");
  Finish();
  EXPECT_EQ(Claims(), (Names{"removed-unsynced data.gz"}));
  EXPECT_TRUE(Broken().contains("removed-unsynced: data.gz is missing"));
  EXPECT_TRUE(Broken().contains("removed-unsynced: data.gz is empty"));
}

TEST_F(OracleTest, UnrelatedFilesReplaceNothing) {
  Old("stale");
  Begin();
  Create("fresh.txt");
  Write("fresh.txt", "news");
  Unlink("stale");
  Finish();
  EXPECT_EQ(Claims(), Names{});
}

TEST_F(OracleTest, LogsAndDatabasesAreNotReplaced) {
  Old("log");
  Begin();
  Append("log", " more");
  Write("log", "X");
  Finish();
  EXPECT_EQ(Claims(), Names{});
}

TEST_F(OracleTest, PromisedBeforeItWasSynced) {
  Old("log");
  Begin();
  Append("log", " one");
  Print("one");
  Fsync("log");
  Finish();
  EXPECT_EQ(Claims(), (Names{"promised-unsynced log"}));
  EXPECT_TRUE(Broken().contains("promised-unsynced: log does not hold what it should"));
}

TEST_F(OracleTest, PromisedAndSyncedWithoutAName) {
  Begin();
  Create("log");
  Append("log", "one");
  Fsync("log");
  Print("one");
  Finish();
  EXPECT_EQ(Broken(), (Set{"promised-unnamed: log is missing"}));
}

TEST_F(OracleTest, AFileThatIsNeverSyncedAmongOthersThatAreIsNoPromise) {
  Old("data");
  Old("trace");
  Begin();
  for (int i = 0; i < 2; ++i) {
    Append("trace", "x");
    Append("data", "y");
    Fsync("data");
    Print("done");
  }
  Finish();
  EXPECT_EQ(Claims(), Names{});
}

TEST_F(OracleTest, ProgressIsNoPromise) {
  Begin();
  Print("writing a");
  Create("a");
  Write("a", "a");
  Print("writing b");
  Create("b");
  Write("b", "b");
  Finish();
  EXPECT_FALSE(oracle_->takes_promises());
  EXPECT_EQ(Claims(), Names{});
}

TEST_F(OracleTest, WhatWasOverwrittenLaterIsNotMissed) {
  Old("slot");
  Begin();
  Write("slot", "one");
  Print("one");
  Write("slot", "two");
  Fsync("slot");
  Print("two");
  Finish();
  // Only where the first line had been printed and the second write had not been made.
  EXPECT_EQ(Broken(), (Set{"promised-unsynced: slot does not hold what it should"}));
  for (const Claim& claim : oracle_->claims()) EXPECT_EQ(claim.until, 2U);
}

TEST_F(OracleTest, SyncedUnderANameThatNeverWas) {
  Begin();
  Create("result");
  Write("result", "r");
  Fsync("result");
  Finish();
  EXPECT_EQ(Broken(), (Set{"synced-unnamed: result is missing"}));
}

TEST_F(OracleTest, NamesInDirectoriesThatMoveAreLeftAlone) {
  Mkdir("a");
  Old("a/config");
  Begin();
  Rename("a", "b");
  Create("b/tmp");
  Write("b/tmp", "new");
  Rename("b/tmp", "b/config");
  Finish();
  EXPECT_EQ(Claims(), Names{});
}

}  // namespace
}  // namespace tornfs::harness
