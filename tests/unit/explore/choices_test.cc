#include "harness/explore/choices.h"

#include <set>

#include "unit/core/engine_fixture.h"

namespace tornfs::harness {
namespace {

class ChoicesTest : public EngineFixture {
 protected:
  std::set<std::string> Tokens(const Window& window, const ChoiceSet& set) {
    std::set<std::string> tokens;
    for (const Choice& choice : set.choices) {
      EXPECT_TRUE(window.Legal(choice));
      EXPECT_TRUE(tokens.insert(window.Token(choice)).second) << "a choice came twice";
    }
    return tokens;
  }
  void ManyFiles(int count) {
    for (int i = 0; i < count; ++i) {
      Create("f" + std::to_string(i));
      Write("f" + std::to_string(i), "x");
    }
  }
};

TEST_F(ChoicesTest, ASmallWindowIsTriedWhole) {
  ManyFiles(2);
  const Window window = engine_->CrashWindow(Tear::kPage);
  const ChoiceSet set = Choose(window, Strategy::kSystematic, 256, 1);
  EXPECT_TRUE(set.complete);
  EXPECT_EQ(Tokens(window, set).size(), window.Count(256));
}

TEST_F(ChoicesTest, ALargeWindowGetsEverySingleLossAndEverySingleSurvivor) {
  ManyFiles(20);
  const Window window = engine_->CrashWindow(Tear::kPage);
  ASSERT_EQ(window.nodes().size(), 60U);
  const ChoiceSet set = Choose(window, Strategy::kSystematic, 256, 1);
  EXPECT_FALSE(set.complete);
  EXPECT_LE(set.choices.size(), 256U);
  const auto tokens = Tokens(window, set);
  EXPECT_TRUE(tokens.contains(window.Token(window.None())));
  EXPECT_TRUE(tokens.contains(window.Token(window.All())));
  for (std::uint32_t node = 0; node < 60; ++node) {
    Choice lost = window.All();
    lost.kept[node] = false;
    window.CloseUp(lost);
    EXPECT_TRUE(tokens.contains(window.Token(lost))) << node;
    Choice kept = window.None();
    kept.kept[node] = true;
    window.CloseDown(kept);
    EXPECT_TRUE(tokens.contains(window.Token(kept))) << node;
  }
}

TEST_F(ChoicesTest, AHugeWindowStaysWithinTheLimit) {
  ManyFiles(1000);
  const Window window = engine_->CrashWindow(Tear::kPage);
  const ChoiceSet set = Choose(window, Strategy::kSystematic, 64, 1);
  EXPECT_LE(set.choices.size(), 64U);
  EXPECT_GT(set.choices.size(), 32U);
  Tokens(window, set);
}

TEST_F(ChoicesTest, EqualSeedsChooseEqually) {
  ManyFiles(20);
  const Window window = engine_->CrashWindow(Tear::kPage);
  const auto tokens = [&](std::uint64_t seed) {
    return Tokens(window, Choose(window, Strategy::kRandom, 64, seed));
  };
  EXPECT_EQ(tokens(7), tokens(7));
  EXPECT_NE(tokens(7), tokens(8));
}

TEST_F(ChoicesTest, EveryByteOfASmallWriteIsTorn) {
  Create("f");
  Sync();
  Write("f", "abcd");
  const Window window = engine_->CrashWindow(Tear::kByte);
  const ChoiceSet set = Choose(window, Strategy::kSystematic, 256, 1);
  std::set<std::uint64_t> cuts;
  for (const Choice& choice : set.choices) {
    for (const Choice::Torn& torn : choice.torn) cuts.insert(torn.bytes);
  }
  EXPECT_EQ(cuts, (std::set<std::uint64_t>{1, 2, 3}));
}

}  // namespace
}  // namespace tornfs::harness
