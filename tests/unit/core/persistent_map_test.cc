#include "fusefs/core/persistent_map.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "common/rng.h"

namespace tornfs {
namespace {

using Map = PersistentMap<std::uint64_t, std::uint64_t, 4>;
using Model = std::map<std::uint64_t, std::uint64_t>;

void ExpectEqual(const Map& map, const Model& model) {
  ASSERT_EQ(map.size(), model.size());
  auto cursor = map.Begin();
  for (const auto& [key, value] : model) {
    ASSERT_TRUE(cursor.valid());
    ASSERT_EQ(cursor.key(), key);
    ASSERT_EQ(cursor.value(), value);
    cursor.Next();
  }
  EXPECT_FALSE(cursor.valid());
}

void ExpectSameSearch(const Map& map, const Model& model, std::uint64_t key) {
  const auto at = model.lower_bound(key);
  const auto lower = map.LowerBound(key);
  ASSERT_EQ(lower.valid(), at != model.end());
  if (lower.valid()) {
    EXPECT_EQ(lower.key(), at->first);
  }
  const auto above = model.upper_bound(key);
  const auto floor = map.Floor(key);
  ASSERT_EQ(floor.valid(), above != model.begin());
  if (floor.valid()) {
    EXPECT_EQ(floor.key(), std::prev(above)->first);
  }
}

// Random changes, with copies kept on the way: every copy must stay what it was.
TEST(PersistentMap, BehavesAsAMapAndCopiesStayAsTheyWere) {
  Rng rng(1);
  Map map;
  Model model;
  std::vector<std::pair<Map, Model>> copies;
  for (int step = 0; step < 20000; ++step) {
    const std::uint64_t key = rng.Below(400);
    if (rng.Below(5) < (step / 2000 % 2 == 0 ? 3U : 1U)) {
      EXPECT_EQ(map.Set(key, rng.Below(1000) + 1), !model.contains(key));
      model[key] = *map.Find(key);
    } else if (rng.Below(4) == 0 && model.contains(key)) {
      *map.FindMutable(key) = 7;
      model[key] = 7;
    } else {
      EXPECT_EQ(map.Erase(key), model.erase(key) > 0);
    }
    ExpectSameSearch(map, model, rng.Below(400));
    if (step % 500 == 0) copies.emplace_back(map, model);
  }
  ExpectEqual(map, model);
  for (const auto& [copy, was] : copies) ExpectEqual(copy, was);
}

TEST(PersistentMap, EmptiesAndFillsAgain) {
  Map map;
  for (std::uint64_t round = 0; round < 3; ++round) {
    for (std::uint64_t i = 0; i < 100; ++i) map.Set(i, i);
    for (std::uint64_t i = 0; i < 100; ++i) EXPECT_TRUE(map.Erase(99 - i));
    EXPECT_TRUE(map.empty());
    EXPECT_FALSE(map.Begin().valid());
    EXPECT_FALSE(map.Floor(std::uint64_t{5}).valid());
  }
}

TEST(PersistentMap, ACopyIsTheSameRootUntilOneChanges) {
  Map map;
  map.Set(1, 1);
  Map copy = map;
  EXPECT_TRUE(copy.SameRoot(map));
  copy.Set(2, 2);
  EXPECT_FALSE(copy.SameRoot(map));
  EXPECT_EQ(map.Find(std::uint64_t{2}), nullptr);
}

// What ForEachChange tells of two maps of one origin, or of two that share nothing.
TEST(PersistentMap, ChangesAreThoseOfAMap) {
  Rng rng(2);
  for (int round = 0; round < 300; ++round) {
    Map map;
    Model model;
    const auto change = [&](std::uint64_t times) {
      for (; times > 0; --times) {
        const std::uint64_t key = rng.Below(300);
        if (rng.Below(3) == 0) {
          map.Erase(key);
          model.erase(key);
        } else {
          map.Set(key, model[key] = rng.Below(3));
        }
      }
    };
    change(rng.Below(600));
    const Map old_map = round % 4 == 0 ? Map() : map;
    const Model old_model = round % 4 == 0 ? Model() : model;
    change(rng.Below(20));
    for (const auto& [key, before] : old_model) {
      const auto now = model.find(key);
      if (now != model.end() && now->second == before) model.erase(now);
    }
    Model expected_gone = old_model;
    std::erase_if(expected_gone, [&](const auto& item) { return map.Find(item.first) != nullptr; });
    Model set;
    Model gone;
    map.ForEachChange(
        old_map, [](std::uint64_t a, std::uint64_t b) { return a == b; },
        [&](std::uint64_t key, const std::uint64_t* before, const std::uint64_t* now) {
          EXPECT_EQ(before == nullptr, !old_model.contains(key));
          if (now != nullptr) {
            set[key] = *now;
          } else {
            gone[key] = *before;
          }
        });
    EXPECT_EQ(set, model);
    EXPECT_EQ(gone, expected_gone);
  }
}

TEST(PersistentMap, SharedNodesAreNotCompared) {
  Map map;
  for (std::uint64_t key = 0; key < 10000; ++key) map.Set(key, key);
  const Map before = map;
  map.Set(5000, 1);
  int compared = 0;
  int changes = 0;
  map.ForEachChange(
      before, [&](std::uint64_t a, std::uint64_t b) { return ++compared, a == b; },
      [&](std::uint64_t, const std::uint64_t*, const std::uint64_t*) { ++changes; });
  EXPECT_EQ(changes, 1);
  EXPECT_LT(compared, 10);
}

}  // namespace
}  // namespace tornfs
