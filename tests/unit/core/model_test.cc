// Model files: what is read, what is refused, and how the built-in models relate.
#include "fusefs/core/model.h"

#include <algorithm>
#include <map>

#include "fusefs/core/model_rules.h"
#include "unit/core/random_history.h"

namespace tornfs {
namespace {

constexpr std::string_view kMine = R"(# A comment.
model: mine
about: one sentence
    in two lines
rank: 5
like: ext4

order = none [heuristic]
    Because
    I say so.
fresh = stale [measured]
)";

TEST(ModelFile, IsRead) {
  const auto model = ParseModel(kMine, "mine.model", Models());
  ASSERT_TRUE(model.has_value()) << model.error().Message();
  EXPECT_EQ(model->name, "mine");
  EXPECT_EQ(model->about, "one sentence in two lines");
  EXPECT_EQ(model->rank, 5);
  EXPECT_EQ(model->order(), Order::kNone);
  EXPECT_EQ(model->At(Rule::kOrder).evidence, Evidence::kHeuristic);
  EXPECT_EQ(model->At(Rule::kOrder).why, "Because I say so.");
  EXPECT_TRUE(model->stale());
  EXPECT_EQ(model->replace(), Replace::kSize) << "as ext4 has it";
}

TEST(ModelFile, WithAMistakeIsRefusedWithItsLine) {
  const std::map<std::string, std::string> mistakes{
      {"", "model: NAME"},
      {"model: a\norder = total [measured]\n", "line 2: order is one of none, journal, calls"},
      {"model: a\norder = none\n", "line 2: a rule ends with"},
      {"model: a\norder = none [rumour]\n", "line 2: unknown evidence 'rumour'"},
      {"model: a\nordre = none [measured]\n", "line 2: unknown rule 'ordre'"},
      {"model: a\norder = none [measured]\norder = none [measured]\n",
       "line 3: 'order' stands twice"},
      {"model: a\nlike: b\n", "line 2: there is no model 'b'"},
      {"model: a\norder = none [measured]\nlike: posix\n", "`like` stands before all rules"},
      {"model: a\nrank: high\n", "line 2: rank is no number"},
      {"model: a\ncolour: red\n", "line 2: unknown key 'colour'"},
      {"model: a\nnonsense\n", "line 2: neither"},
      {"  why\nmodel: a\n", "line 1: an indented line"}};
  for (const auto& [text, message] : mistakes) {
    const auto model = ParseModel(text, "a.model", Models());
    ASSERT_FALSE(model.has_value()) << text;
    EXPECT_NE(model.error().Message().find(message), std::string::npos)
        << model.error().Message() << "\nfor\n"
        << text;
  }
}

TEST(ModelFile, OfAUserHasANameOfItsOwn) {
  EXPECT_FALSE(AddModel("model: ext4\n", "mine.model").has_value());
  const auto once = AddModel(kMine, "mine.model");
  ASSERT_TRUE(once.has_value());
  EXPECT_EQ(once.value(), AddModel(kMine, "mine.model").value());
  EXPECT_FALSE(FindModel("./nowhere.model").has_value());
}

TEST(BuiltInModels, AreThoseOfTheDocumentation) {
  std::vector<std::string> names;
  for (const Model& model : Models()) {
    names.push_back(model.name);
    EXPECT_FALSE(model.about.empty()) << model.name;
    for (const RuleWords& rule : RuleVocabulary()) {
      EXPECT_FALSE(model.At(rule.rule).why.empty() && model.name == "posix") << rule.name;
    }
  }
  for (const char* name : {"posix-minimal", "posix", "ext4", "ext4-diolock", "ext4-noauto",
                           "ext4-nodelalloc", "ext4-writeback", "ext4-journal", "xfs", "btrfs",
                           "f2fs", "f2fs-strict", "lazyfs", "prefix-torn", "strict"}) {
    EXPECT_EQ(std::ranges::count(names, name), 1) << name;
  }
  EXPECT_TRUE(std::ranges::is_sorted(Models(), {}, &Model::rank));
}

TEST(BuiltInModels, HaveWordsForEveryAnswer) {
  const auto rules = RuleVocabulary();
  ASSERT_EQ(rules.size(), kRules);
  for (std::size_t i = 0; i < rules.size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(rules[i].rule), i);
    EXPECT_GE(rules[i].answers.size(), 2U);
  }
}

// Each pair: what the first model allows, the second does.
class StrongerModel : public RandomHistory {};

TEST_F(StrongerModel, AllowsASubset) {
  const std::vector<std::pair<std::string_view, std::string_view>> pairs{
      {"strict", "prefix-torn"},
      {"strict", "posix"},
      {"posix", "posix-minimal"},
      {"prefix-torn", "posix"},
      {"ext4", "ext4-noauto"},
      {"ext4-diolock", "ext4-noauto"},
      {"ext4", "ext4-writeback"},
      {"strict", "ext4-journal"},
      {"strict", "ext4-nodelalloc"},
      {"strict", "ext4"},
      {"strict", "xfs"},
      {"strict", "f2fs-strict"},
      {"ext4-journal", "ext4-noauto"},
      {"strict", "ext4-writeback"},
      {"strict", "btrfs"},
      {"strict", "f2fs"},
      {"f2fs-strict", "f2fs"},
      {"xfs", "posix-minimal"},
      {"btrfs", "posix-minimal"},
      {"f2fs", "posix-minimal"},
      {"ext4-writeback", "posix-minimal"},
      {"ext4-nodelalloc", "posix-minimal"}};
  std::size_t compared = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    std::map<std::string_view, std::optional<Trees>> allowed;
    const auto outcomes = [&](std::string_view model) -> const std::optional<Trees>& {
      const auto known = allowed.find(model);
      if (known != allowed.end()) return known->second;
      UseModel(model);
      Rng rng(seed);
      Mkdir("d");
      Sync();
      for (int i = 0; i < 8; ++i) Step(rng);
      std::optional<Trees> trees;
      if (engine_->CrashWindow(Tear::kPage).Count(4096)) trees = Outcomes();
      return allowed[model] = std::move(trees);
    };
    for (const auto& [stronger, weaker] : pairs) {
      if (!outcomes(stronger) || !outcomes(weaker)) continue;
      ++compared;
      EXPECT_TRUE(std::ranges::includes(*outcomes(weaker), *outcomes(stronger)))
          << stronger << " allows what " << weaker << " does not, seed " << seed;
    }
  }
  EXPECT_GE(compared, 100U);
}

}  // namespace
}  // namespace tornfs
