// What a power loss may leave, for small programs. The expected sets are those of the crash-model
// literature's litmus tests (Bornholt et al., ASPLOS 2016; Pillai et al., OSDI 2014) for the model
// named in each test.
#include <algorithm>

#include "fusefs/core/crash_points.h"
#include "unit/core/engine_fixture.h"
#include "unit/core/random_history.h"

namespace tornfs {
namespace {

class WindowTest : public EngineFixture {};

const std::string kOld(10, 'o');
const std::string kNew(10, 'n');

TEST_F(WindowTest, ReplaceByRenameWithoutFsync) {
  Create("f");
  Write("f", kOld);
  Sync();
  Create("t");
  Write("t", kNew);
  Rename("t", "f");
  EXPECT_EQ(Outcomes(), (Trees{{"f=o*10"},
                               {"f=o*10", "t="},
                               {"f=o*10", "t=0*10"},
                               {"f=o*10", "t=n*10"},
                               {"f="},
                               {"f=0*10"},
                               {"f=n*10"}}));
}

TEST_F(WindowTest, ReplaceByRenameWithFsync) {
  Create("f");
  Write("f", kOld);
  Sync();
  Create("t");
  Write("t", kNew);
  Fsync("t");
  Rename("t", "f");
  EXPECT_EQ(Outcomes(), (Trees{{"f=o*10"}, {"f=o*10", "t=n*10"}, {"f=n*10"}}));
  FsyncDir("");
  EXPECT_EQ(Outcomes(), (Trees{{"f=n*10"}}));
}

TEST_F(WindowTest, FsyncOfAFileDoesNotKeepItsName) {
  Create("f");
  Write("f", kNew);
  Fsync("f");
  EXPECT_EQ(Outcomes(), (Trees{{}, {"f=n*10"}}));
}

TEST_F(WindowTest, FsyncOfADirectoryDoesNotKeepContents) {
  Mkdir("d");
  Sync();
  Create("d/x");
  Write("d/x", kNew);
  FsyncDir("d");
  EXPECT_EQ(Outcomes(), (Trees{{"d/", "d/x="}, {"d/", "d/x=0*10"}, {"d/", "d/x=n*10"}}));
}

TEST_F(WindowTest, TruncateDownAndUp) {
  Create("f");
  Write("f", std::string(8192, 'o'));
  Sync();
  Truncate("f", 100);
  Truncate("f", 8192);
  EXPECT_EQ(Outcomes(), (Trees{{"f=o*8192"},
                               {"f=o*100"},
                               {"f=o*100 0*8092"},
                               {"f=o*100 0*3996 o*4096"},
                               {"f=o*4096 0*4096"}}));
}

TEST_F(WindowTest, RenamesOfTwoDirectoriesAreIndependent) {
  Mkdir("d");
  Create("a");
  Create("d/t");
  Sync();
  Rename("a", "a2");
  Rename("d/t", "d/t2");
  FsyncDir("d");
  EXPECT_EQ(Outcomes(), (Trees{{"d/", "d/t2=", "a="}, {"d/", "d/t2=", "a2="}}));
}

TEST_F(WindowTest, ARenameAcrossDirectoriesIsNeverSplit) {
  Mkdir("A");
  Mkdir("B");
  Create("A/foo");
  Sync();
  Rename("A/foo", "B/foo");
  EXPECT_EQ(Outcomes(), (Trees{{"A/", "B/", "A/foo="}, {"A/", "B/", "B/foo="}}));
  FsyncDir("A");
  EXPECT_EQ(Outcomes(), (Trees{{"A/", "B/", "B/foo="}}));
}

TEST_F(WindowTest, AppendsTearByPage) {
  Create("f");
  Write("f", std::string(4096, 'a'));
  Sync();
  Append("f", std::string(8192, 'b'));
  EXPECT_EQ(Outcomes(), (Trees{{"f=a*4096"},
                               {"f=a*4096 0*8192"},
                               {"f=a*4096 b*4096 0*4096"},
                               {"f=a*4096 0*4096 b*4096"},
                               {"f=a*4096 b*8192"}}));
}

TEST_F(WindowTest, OverwritesTearBySector) {
  Create("f");
  Write("f", std::string(1024, 'o'));
  Sync();
  Write("f", std::string(1024, 'n'));
  EXPECT_EQ(Outcomes(Tear::kSector),
            (Trees{{"f=o*1024"}, {"f=n*512 o*512"}, {"f=o*512 n*512"}, {"f=n*1024"}}));
  EXPECT_EQ(Outcomes(Tear::kPage), (Trees{{"f=o*1024"}, {"f=n*1024"}}));
}

TEST_F(WindowTest, PiecesOfOneWriteAreDescribedTogether) {
  Create("f");
  Write("f", std::string(3000, 'o'));
  Fsync("f");
  Write("f", std::string(1500, 'n'), 100);
  Write("f", std::string(512, 'm'), 2048);
  const Window window = engine_->CrashWindow(Tear::kSector);
  std::vector<std::string> lines;
  for (std::uint32_t node = 0; node < window.nodes().size(); ++node) {
    const std::uint32_t first = node;
    while (window.GoesOn(node)) ++node;
    lines.push_back(window.DescribeBytes(first, node));
  }
  EXPECT_EQ(lines.back(), "bytes 2048..2560 of f");
  EXPECT_EQ(lines[lines.size() - 2], "bytes 100..1600 of f");
}

TEST_F(WindowTest, WithoutTearingAWriteIsWhole) {
  Create("f");
  Sync();
  Write("f", std::string(8192, 'n'));
  EXPECT_EQ(Outcomes(Tear::kNone), (Trees{{"f="}, {"f=n*8192"}}));
}

TEST_F(WindowTest, ByteTearsLeaveAPrefixOfTheWrite) {
  Create("f");
  Write("f", "oooo");
  Sync();
  Write("f", "nonn");
  const Window window = engine_->CrashWindow(Tear::kByte);
  ASSERT_EQ(window.nodes().size(), 1U);
  // Byte 1 is as it was, so a cut after 1 and one after 2 look the same.
  EXPECT_EQ(window.TearCuts(0), (std::vector<std::uint64_t>{2, 3}));
  Choice torn = window.None();
  torn.torn.push_back({0, 3});
  ASSERT_TRUE(window.Legal(torn));
  EXPECT_EQ(Show(window.State(torn)), (std::set<std::string>{"f=n o n o"}));
  EXPECT_EQ(window.ChoiceOf(window.Token(torn)).value(), torn);
}

TEST_F(WindowTest, UnlinkAndRecreate) {
  Create("f");
  Write("f", kOld);
  Sync();
  Unlink("f");
  Create("f");
  Write("f", kNew);
  EXPECT_EQ(Outcomes(), (Trees{{"f=o*10"}, {}, {"f="}, {"f=0*10"}, {"f=n*10"}}));
}

TEST_F(WindowTest, ModesAreCellsOfTheirOwn) {
  Create("f");
  Create("g");
  Sync();
  ASSERT_TRUE(engine_->SetAttributes(me_, At("f"), {.mode = 0600}));
  Fsync("g");
  EXPECT_EQ(engine_->CrashWindow(Tear::kPage).nodes().size(), 1U);
  Fdatasync("f");
  EXPECT_EQ(engine_->CrashWindow(Tear::kPage).nodes().size(), 1U);
  Fsync("f");
  EXPECT_TRUE(engine_->CrashWindow(Tear::kPage).nodes().empty());
}

TEST_F(WindowTest, AnUnreachableTreeIsGone) {
  Mkdir("d");
  Create("d/x");
  Write("d/x", kNew);
  Fsync("d/x");
  FsyncDir("d");
  const Window window = engine_->CrashWindow(Tear::kPage);
  const Tree lost = window.State(window.None());
  EXPECT_TRUE(Show(lost).empty());
  EXPECT_EQ(lost.inodes(), 1U);
}

TEST_F(WindowTest, AWriteOfTheSameBytesCannotBeLost) {
  Create("f");
  Write("f", kOld);
  Sync();
  Write("f", kOld);
  EXPECT_TRUE(engine_->CrashWindow(Tear::kSector).nodes().empty());
}

TEST_F(WindowTest, LazyfsKeepsNamesAndSizes) {
  UseModel("lazyfs");
  Create("t");
  Write("t", kNew);
  Rename("t", "f");
  EXPECT_EQ(Outcomes(), (Trees{{"f=0*10"}, {"f=n*10"}}));
}

TEST_F(WindowTest, LazyfsTruncationIsDurableWithWhatItDrops) {
  UseModel("lazyfs");
  Create("f");
  Write("f", kOld);
  Sync();
  Truncate("f", 0);
  Write("f", kNew);
  EXPECT_EQ(Outcomes(), (Trees{{"f=0*10"}, {"f=n*10"}}));
}

TEST_F(WindowTest, StrictKeepsAPrefixOfTheOps) {
  UseModel("strict");
  Create("a");
  Write("a", kNew);
  Create("b");
  EXPECT_EQ(Outcomes(), (Trees{{}, {"a="}, {"a=n*10"}, {"a=n*10", "b="}}));
  Fsync("a");
  EXPECT_EQ(Outcomes(), (Trees{{"a=n*10", "b="}}));
}

TEST_F(WindowTest, PrefixTornTearsOnlyTheLastWrite) {
  UseModel("prefix-torn");
  Create("a");
  Sync();
  Write("a", std::string(1024, 'n'));
  Create("b");
  const Trees outcomes = Outcomes(Tear::kSector);
  EXPECT_TRUE(outcomes.contains({"a=n*512 0*512"}));
  for (const auto& tree : outcomes) {
    if (tree.contains("b=")) {
      EXPECT_TRUE(tree.contains("a=n*1024"));
    }
  }
}

// Properties that hold for any history: random programs over a few names.
TEST_P(RandomHistory, LegalStatesFormALattice) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    UseModel(GetParam());
    Rng rng(seed);
    Mkdir("d");
    Sync();
    for (int i = 0; i < 12; ++i) Step(rng);
    const Window window = engine_->CrashWindow(Tear::kPage);
    const auto count = window.Count(4096);
    if (!count) continue;
    const auto choices = window.Enumerate(4096);
    ASSERT_EQ(choices.size(), *count);
    ASSERT_TRUE(window.Legal(window.None()));
    ASSERT_TRUE(window.Legal(window.All()));
    EXPECT_EQ(window.State(window.All()).VisibleDigest(*store_), VisibleNow());
    for (int i = 0; i < 50; ++i) {
      const Choice& a = choices[rng.Below(choices.size())];
      const Choice& b = choices[rng.Below(choices.size())];
      Choice meet = window.None();
      Choice join = window.None();
      for (std::size_t n = 0; n < a.kept.size(); ++n) {
        meet.kept[n] = a.kept[n] && b.kept[n];
        join.kept[n] = a.kept[n] || b.kept[n];
      }
      EXPECT_TRUE(window.Legal(meet));
      EXPECT_TRUE(window.Legal(join));
      EXPECT_TRUE(window.Legal(window.Random(rng)));
      EXPECT_EQ(window.ChoiceOf(window.Token(a)).value(), a);
    }
  }
}

TEST_P(RandomHistory, APowerLossLeavesItsStateAndNothingPending) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    UseModel(GetParam());
    Rng rng(seed);
    Mkdir("d");
    Sync();
    for (int i = 0; i < 20; ++i) Step(rng);
    const Window window = engine_->CrashWindow(Tear::kSector);
    const Choice choice = window.Random(rng);
    const Digest state = window.State(choice).VisibleDigest(*store_);
    engine_->PowerLoss(window, choice);
    EXPECT_TRUE(engine_->pending().empty());
    EXPECT_EQ(engine_->current().VisibleDigest(*store_), state);
    EXPECT_EQ(engine_->durable().VisibleDigest(*store_), state);
  }
}

// A recording must know, for any cut, what the engine knew when it was there.
TEST_P(RandomHistory, ARecordingGivesTheWindowOfEveryCut) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    UseModel(GetParam());
    Rng rng(seed);
    Mkdir("d");
    Sync();
    engine_->Load(engine_->Snapshot(), true);
    std::map<OpNumber, std::pair<Digest, Trees>> live;
    for (int i = 0; i < 12; ++i) {
      Step(rng);
      const Window window = engine_->CrashWindow(Tear::kPage);
      if (window.Count(512)) {
        live[engine_->next_op()] = {VisibleNow(), Outcomes()};
      }
    }
    const auto recording = engine_->TakeRecording();
    for (const auto& [cut, expected] : live) {
      const Window window(recording->BaseAt(cut), engine_->model(), Tear::kPage, *store_);
      EXPECT_EQ(window.State(window.All()).VisibleDigest(*store_), expected.first);
      Trees trees;
      for (const Choice& choice : window.Enumerate(512)) trees.insert(Show(window.State(choice)));
      EXPECT_EQ(trees, expected.second) << "seed " << seed << " cut " << cut;
    }
  }
}

// A history made again under its own model is the same history; under another, that model's.
TEST_P(RandomHistory, AReplayedHistoryIsTheSame) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto record = [&](std::string_view model) {
      UseModel(model);
      Rng rng(seed);
      Mkdir("d");
      Sync();
      engine_->Load(engine_->Snapshot(), true);
      for (int i = 0; i < 15; ++i) Step(rng);
      return engine_->TakeRecording();
    };
    const auto posix = record("posix");
    const auto own = record(GetParam());
    engine_->Replay(*posix);
    const auto replayed = engine_->TakeRecording();
    ASSERT_EQ(replayed->ops.size(), own->ops.size());
    for (OpNumber cut = own->start.next_op; cut <= own->end(); ++cut) {
      const Window expected(own->BaseAt(cut), engine_->model(), Tear::kPage, *store_);
      const Window actual(replayed->BaseAt(cut), engine_->model(), Tear::kPage, *store_);
      ASSERT_EQ(actual.nodes().size(), expected.nodes().size())
          << "seed " << seed << " cut " << cut;
      EXPECT_EQ(Show(actual.State(actual.None())), Show(expected.State(expected.None())));
      EXPECT_EQ(Show(actual.State(actual.All())), Show(expected.State(expected.All())));
    }
  }
}

// The crash points that are tried must reach every state that any cut can lead to.
TEST_P(RandomHistory, CrashPointsLoseNoState) {
  int tried_histories = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    UseModel(GetParam());
    Rng rng(seed);
    Mkdir("d");
    Sync();
    engine_->Load(engine_->Snapshot(), true);
    for (int i = 0; i < 10; ++i) {
      Step(rng);
      if (rng.Below(4) == 0) engine_->AddPromise("line");
    }
    const auto recording = engine_->TakeRecording();
    // The last window need not be the largest, but a history with large ones is too slow to try.
    constexpr std::uint64_t kLimit = 1024;
    const auto too_large = [&](const CrashPoint& point) {
      const Window window(recording->BaseAt(point.cut), engine_->model(), Tear::kPage, *store_);
      return !window.Count(kLimit);
    };
    if (std::ranges::any_of(AllPoints(*recording), too_large)) continue;
    ++tried_histories;
    const auto reach = [&](const std::vector<CrashPoint>& points) {
      std::set<std::pair<std::size_t, std::set<std::string>>> reached;
      for (const CrashPoint& point : points) {
        const Window window(recording->BaseAt(point.cut), engine_->model(), Tear::kPage, *store_);
        for (const Choice& choice : window.Enumerate(kLimit)) {
          reached.insert({point.promises, Show(window.State(choice))});
        }
      }
      return reached;
    };
    // More promises demand more of the same state, so a state counts with the most it was tried
    // for.
    const auto tried = reach(PowerPoints(*recording));
    for (const auto& state : reach(AllPoints(*recording))) {
      const bool found = std::ranges::any_of(tried, [&](const auto& each) {
        return each.second == state.second && each.first >= state.first;
      });
      EXPECT_TRUE(found) << "seed " << seed << " after " << state.first << " promises";
    }
  }
  EXPECT_GE(tried_histories, 10);
}

INSTANTIATE_TEST_SUITE_P(Models, RandomHistory, ::testing::ValuesIn(ModelNames()), ModelTestName);

TEST_F(WindowTest, WhatWasWrittenAfterAnUnlinkCanSurviveIt) {
  Create("f");
  Write("f", kOld);
  Sync();
  const Ino ino = At("f");
  engine_->Pin(ino);
  Unlink("f");
  ASSERT_TRUE(engine_->Write(me_, ino, 0, std::as_bytes(std::span(kNew.data(), kNew.size()))));
  EXPECT_EQ(Outcomes(), (Trees{{}, {"f=o*10"}, {"f=n*10"}}));
}

TEST_F(WindowTest, ARenameThroughARemovedDirectoryIsNotSplit) {
  Mkdir("e");
  Mkdir("d");
  Mkdir("h");
  Mkdir("e/x");
  Sync();
  Rename("e/x", "d/x");
  Rename("d/x", "h/y");
  ASSERT_TRUE(engine_->RemoveDirectory(me_, kRootIno, "d"));
  FsyncDir("");
  EXPECT_EQ(Outcomes(), (Trees{{"e/", "h/", "e/x/"}, {"e/", "h/"}, {"e/", "h/", "h/y/"}}));
  FsyncDir("h");
  EXPECT_EQ(Outcomes(), (Trees{{"e/", "h/", "h/y/"}}));
}

TEST_F(WindowTest, StrictDoesNotSplitAChown) {
  UseModel("strict");
  Create("f");
  Sync();
  ASSERT_TRUE(engine_->SetAttributes(me_, At("f"), {.uid = 7, .gid = 8}));
  EXPECT_EQ(engine_->CrashWindow(Tear::kPage).nodes().size(), 1U);
}

TEST_F(WindowTest, BadTokensAreRefused) {
  Create("a");
  Write("a", kNew);
  const Window window = engine_->CrashWindow(Tear::kPage);
  ASSERT_EQ(window.nodes().size(), 3U);
  for (const char* token : {"", "3", "2:", "3:7", "3:2-1", "3:0x", "3:;0@3", "garbage", "3:0,",
                            "99999999999999999999:"}) {
    EXPECT_FALSE(window.ChoiceOf(token)) << token;
  }
  EXPECT_TRUE(window.ChoiceOf("3:0-2"));
}

}  // namespace
}  // namespace tornfs
