// What must hold of every model, on random histories: the exact count is that of the enumeration,
// and a state's digest does not depend on the order in which its nodes were put in.
#include <algorithm>

#include "fusefs/core/state_count.h"
#include "unit/core/random_history.h"

namespace tornfs {
namespace {

constexpr std::uint64_t kMost = 4096;
constexpr int kHistoriesLeast = 10;

class ModelProperties : public RandomHistory {
 protected:
  void Play(std::uint64_t seed, int steps) {
    UseModel(GetParam());
    Rng rng(seed);
    Mkdir("d");
    Sync();
    for (int i = 0; i < steps; ++i) Step(rng);
  }

  // Puts node `at` into `tree`, as if by itself.
  static void PutIn(const Window& window, std::uint32_t at, const Choice& choice, Tree& tree) {
    for (const Part& part : window.nodes()[at].parts) {
      Effect effect = window.effects()[part.effect];
      if (part.kind == PartKind::kStale) {
        if (part.hidden_by != UINT32_MAX && choice.kept[part.hidden_by]) continue;
        effect.kind = CellKind::kData;
        effect.ino = part.ino;
        effect.content = ContentStore::kStale;
        effect.offset = part.begin;
      }
      if (part.kind == PartKind::kSizeStep) effect.value = part.end;
      if (part.kind == PartKind::kRemoval) effect.child = kNoIno;
      if (effect.kind == CellKind::kData) {
        if (effect.content != kZeros) effect.content += part.begin - effect.offset;
        effect.offset = part.begin;
        effect.length = part.end - part.begin;
      }
      Apply(effect, tree);
    }
  }

  // What a crash does to a tree: bytes beyond the size and what nothing leads to are gone.
  static void Crash(Tree& tree) {
    std::vector<Ino> files;
    tree.ForEachChange(Tree(), [&](Ino ino, const Inode*, const Inode* inode) {
      if (inode->IsRegular()) files.push_back(ino);
    });
    for (const Ino ino : files) {
      Inode& file = tree.Change(ino);
      file.content.Cut(file.size);
    }
    tree.KeepReachable();
  }
};

TEST_P(ModelProperties, TheExactCountIsThatOfTheEnumeration) {
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Play(seed, 10);
    const Window window = engine_->CrashWindow(Tear::kPage);
    if (!window.Count(kMost)) continue;
    ++compared;
    const std::vector<Choice> choices = window.Enumerate(kMost);
    EXPECT_EQ(CountClosedSets(window.nodes(), window.All().kept), BigCount(choices.size()));
    // Over what is decided: the states that have all of it.
    Rng rng(seed);
    const Choice& decided = choices[rng.Below(choices.size())];
    std::vector<bool> open = decided.kept;
    open.flip();
    const auto has_all = [&](const Choice& choice) {
      for (std::size_t i = 0; i < open.size(); ++i) {
        if (decided.kept[i] && !choice.kept[i]) return false;
      }
      return true;
    };
    const auto count = static_cast<std::uint64_t>(std::ranges::count_if(choices, has_all));
    EXPECT_EQ(CountClosedSets(window.nodes(), open), BigCount(count));
  }
  EXPECT_GE(compared, kHistoriesLeast);
}

TEST_P(ModelProperties, ADigestDoesNotDependOnTheOrderOfFlips) {
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Play(seed, 12);
    const Window window = engine_->CrashWindow(Tear::kPage);
    if (window.nodes().size() < 2) continue;
    ++compared;
    Rng rng(seed);
    for (int round = 0; round < 8; ++round) {
      const Choice choice = window.Random(rng);
      Choice done = window.None();
      Tree tree = window.base().durable;
      while (done != choice) {
        std::vector<std::uint32_t> ready;
        for (std::uint32_t i = 0; i < window.nodes().size(); ++i) {
          const auto& required = window.nodes()[i].requires_;
          const bool free = std::ranges::all_of(required, [&](auto n) { return done.kept[n]; });
          if (choice.kept[i] && !done.kept[i] && free) ready.push_back(i);
        }
        ASSERT_FALSE(ready.empty());
        const std::uint32_t next = ready[rng.Below(ready.size())];
        done.kept[next] = true;
        PutIn(window, next, choice, tree);
        (void)tree.VisibleDigest(*store_);  // What it remembers must not outlive the next change.
      }
      Crash(tree);
      EXPECT_EQ(tree.VisibleDigest(*store_), window.State(choice).VisibleDigest(*store_))
          << "seed " << seed;
    }
  }
  EXPECT_GE(compared, kHistoriesLeast);
}

INSTANTIATE_TEST_SUITE_P(Models, ModelProperties, ::testing::ValuesIn(ModelNames()), ModelTestName);

}  // namespace
}  // namespace tornfs
