// Undecided worlds: whatever is asked, the options are a partition of the legal states, and each
// state gives the answer of its option.
#include "fusefs/core/undecided.h"

#include <map>

#include "unit/core/engine_fixture.h"
#include "unit/core/random_history.h"

namespace tornfs {
namespace {

using Kind = Question::Kind;

class UndecidedTest : public EngineFixture {
 protected:
  UndecidedWorld World(Tear tear = Tear::kPage) {
    auto window = std::make_shared<Window>(engine_->CrashWindow(tear));
    return UndecidedWorld(std::make_shared<WindowIndex>(std::move(window)));
  }
  std::vector<UndecidedWorld::Option> Ask(const UndecidedWorld& world, const Question& question) {
    return world.Options(question, {}, world.Build(), *store_, {}, 4096).value();
  }
  std::uint64_t States(const UndecidedWorld& world) { return world.States()->Saturated(); }
};

TEST_F(UndecidedTest, WhatIsNotAskedStaysOpen) {
  Create("a");
  Write("a", "one");
  Create("b");
  Write("b", "two");
  const UndecidedWorld world = World();
  EXPECT_EQ(States(world), 8u * 8u);
  const auto options = Ask(world, {Kind::kName, kRootIno, 0, "a"});
  ASSERT_EQ(options.size(), 2u);
  EXPECT_EQ(States(options[0].world), 4u * 8u);
  EXPECT_EQ(States(options[1].world), 4u * 8u);
  // A name that nothing pending concerns.
  EXPECT_EQ(Ask(world, {Kind::kName, kRootIno, 0, "c"}).size(), 1u);
}

TEST_F(UndecidedTest, EqualCandidatesAreOneAnswer) {
  Create("f");
  Write("f", std::string(4096, 'x'));
  Sync();
  Write("f", std::string(4096, 'y'));
  Write("f", std::string(4096, 'x'));
  const UndecidedWorld world = World();
  EXPECT_EQ(States(world), 3u);
  // x, y, x: three versions; the first and the last are not next to each other.
  const auto options = Ask(world, {Kind::kPage, At("f"), 0, {}});
  ASSERT_EQ(options.size(), 3u);
  EXPECT_EQ(options[0].answer, options[2].answer);
  EXPECT_NE(options[0].answer, options[1].answer);
}

TEST_F(UndecidedTest, WhatTheProgramWroteHidesWhatIsOpen) {
  Create("f");
  Write("f", std::string(4096, 'x'));
  Sync();
  Write("f", std::string(4096, 'y'));
  const UndecidedWorld world = World();
  const Ino ino = At("f");
  engine_->Load(engine_->Snapshot(), true);
  Write("f", std::string(4096, 'z'));
  const Done done = [&] {
    std::shared_ptr<const Recording> recording = engine_->TakeRecording();
    return Done{recording, 1, 0};
  }();
  Tree tree = world.Build();
  Redo(done, tree);
  const auto options = world.Options({Kind::kPage, ino, 0, {}}, done, tree, *store_, {}, 16);
  ASSERT_EQ(options->size(), 1u);
  EXPECT_FALSE(options->front().world.decided());
}

TEST_F(UndecidedTest, SearchesForDataStopAtWhatTheyFind) {
  Create("f");
  Truncate("f", 20 * kPageBytes);
  Sync();
  for (std::uint64_t page = 3; page < 12; page += 2) {
    Write("f", std::string(100, 'a'), page * kPageBytes);
  }
  const UndecidedWorld world = World();
  EXPECT_EQ(States(world), 32u);
  // Pages 3, 5, 7, 9, 11 or none: six answers, not 32.
  EXPECT_EQ(Ask(world, {Kind::kNextData, At("f"), 0, {}}).size(), 6u);
  EXPECT_EQ(Ask(world, {Kind::kNextData, At("f"), 8 * kPageBytes, {}}).size(), 3u);
  EXPECT_EQ(Ask(world, {Kind::kNextHole, At("f"), 3 * kPageBytes, {}}).size(), 2u);
}

TEST_F(UndecidedTest, TooManyAnswersAreNone) {
  for (char c = 'a'; c < 'i'; ++c) Create(std::string(1, c));
  const UndecidedWorld world = World();
  const Question names{Kind::kNames, kRootIno, 0, {}};
  EXPECT_EQ(Ask(world, names).size(), 256u);
  EXPECT_FALSE(world.Options(names, {}, world.Build(), *store_, {}, 255));
}

TEST_F(UndecidedTest, CountsAreExactHoweverLarge) {
  for (int file = 0; file < 40; ++file) {
    const std::string name = "f" + std::to_string(file);
    Create(name);
    Write(name, "x");
  }
  BigCount expected = 1;
  for (int file = 0; file < 40; ++file) expected *= 8;
  EXPECT_EQ(World().States(), expected);
  EXPECT_EQ(expected.ToString(), "1329227995784915872903807060280344576");
  EXPECT_EQ(BigCount::Parse(expected.ToString()), expected);
  EXPECT_EQ(expected.Saturated(), UINT64_MAX);
}

// A later power loss leaves what was open before it open.
TEST_F(UndecidedTest, LayersMultiply) {
  Create("a");
  Write("a", "one");
  Create("b");
  Sync();
  Write("a", "two");
  auto first = std::make_shared<Window>(engine_->CrashWindow(Tear::kPage));
  UndecidedWorld world(std::make_shared<WindowIndex>(first));
  Base base;
  base.durable = world.Build();
  base.next_op = 100;
  base.next_ino = 100;
  engine_->Load(base, true);
  Write("b", "three");
  const std::shared_ptr<const Recording> recording = engine_->TakeRecording();
  auto second = std::make_shared<Window>(recording->BaseAt(recording->end()),
                                         *FindModel("posix").value(), Tear::kPage, *store_);
  world.LosePower(recording, recording->end(), std::make_shared<WindowIndex>(second));
  EXPECT_EQ(States(world), 2u * 4u);
  Trees trees;
  for (const auto& a :
       Ask(world, {Kind::kPage, base.durable.FindEntry(kRootIno, "a")->ino, 0, {}})) {
    const Ino b = base.durable.FindEntry(kRootIno, "b")->ino;
    for (const auto& size : Ask(a.world, {Kind::kSize, b, 0, {}})) {
      for (const auto& page : Ask(size.world, {Kind::kPage, b, 0, {}})) {
        trees.insert(Show(page.tree));
      }
    }
  }
  EXPECT_EQ(trees, (Trees{{"a=o n e", "b="},
                          {"a=o n e", "b=0*5"},
                          {"a=o n e", "b=t h r e*2"},
                          {"a=t w o", "b="},
                          {"a=t w o", "b=0*5"},
                          {"a=t w o", "b=t h r e*2"}}));
}

class UndecidedProperty : public RandomHistory {
 protected:
  // Every state of `world`, one by one: choices of its window between the ends of its interval.
  std::vector<Tree> StatesOf(const UndecidedWorld& world) {
    const auto interval = world.Intervals().front();
    const Window& window = interval.window->window();
    std::vector<Tree> trees;
    for (const Choice& choice : window.Enumerate(1 << 16)) {
      bool within = true;
      for (std::size_t i = 0; i < choice.kept.size(); ++i) {
        within = within && choice.kept[i] >= interval.lowest.kept[i] &&
                 choice.kept[i] <= interval.highest.kept[i];
      }
      if (within) trees.push_back(window.State(choice));
    }
    return trees;
  }

  Question RandomQuestion(Rng& rng, const Tree& tree) {
    static const std::string kNames[] = {"a", "b", "d"};
    const Entry* entry = tree.FindEntry(kRootIno, kNames[rng.Below(3)]);
    const Ino ino = entry == nullptr ? kRootIno : entry->ino;
    const bool file = tree.Find(ino)->IsRegular();
    switch (rng.Below(file ? 7 : 4)) {
      case 0: return {Kind::kLookup, kRootIno, 0, kNames[rng.Below(3)]};
      case 1: return {Kind::kName, kRootIno, 0, kNames[rng.Below(3)]};
      case 2: return {Kind::kAttributes, ino, 0, {}};
      case 3: return {Kind::kNames, file ? kRootIno : ino, 0, {}};
      case 4: return {Kind::kNextData, ino, rng.Below(3) * kPageBytes, {}};
      case 5: return {Kind::kSize, ino, 0, {}};
      default: return {Kind::kPage, ino, rng.Below(3), {}};
    }
  }
};

TEST_P(UndecidedProperty, OptionsPartitionTheLegalStates) {
  constexpr std::uint64_t kHistories = 25;
  for (std::uint64_t seed = 1; seed <= kHistories; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    UseModel(GetParam());
    Mkdir("d");
    Sync();
    for (std::uint64_t i = 4 + rng.Below(10); i > 0; --i) Step(rng);
    auto window = std::make_shared<Window>(
        engine_->CrashWindow(rng.Below(2) == 0 ? Tear::kPage : Tear::kNone));
    if (!window->Count(1 << 12)) continue;
    UndecidedWorld world(std::make_shared<WindowIndex>(window));
    EXPECT_EQ(world.States()->Saturated(), *window->Count(1 << 12));
    // Down one path of questions: as a program would, only about inodes that it was told of.
    for (int depth = 0; depth < 6; ++depth) {
      const Tree tree = world.Build();
      Question question = RandomQuestion(rng, tree);
      if (question.ino != kRootIno) {
        // Found by name first.
        for (const char* name : {"a", "b", "d"}) {
          const auto found = world.Options({Kind::kLookup, kRootIno, 0, name}, {}, world.Build(),
                                           *store_, {}, 4096);
          ASSERT_TRUE(found);
          world = found->front().world;
        }
        const Tree told = world.Build();
        question = RandomQuestion(rng, told);
      }
      const Tree now = world.Build();
      const auto options = world.Options(question, {}, now, *store_, {}, 4096);
      ASSERT_TRUE(options);
      std::uint64_t sum = 0;
      for (const auto& option : *options) {
        const auto states = StatesOf(option.world);
        EXPECT_EQ(option.world.States()->Saturated(), states.size());
        sum += states.size();
        for (const Tree& state : states) {
          EXPECT_EQ(AnswerTo(question, state, *store_, {}), option.answer) << question.Describe();
        }
      }
      EXPECT_EQ(sum, StatesOf(world).size()) << question.Describe();
      world = (*options)[rng.Below(options->size())].world;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, UndecidedProperty, ::testing::ValuesIn(ModelNames()),
                         ModelTestName);

}  // namespace
}  // namespace tornfs
