#include "journal/frontier.h"

#include <gtest/gtest.h>

#include <vector>

namespace tornfs::journal {
namespace {

Slot SlotWith(std::uint64_t sequence, std::uint64_t group = 1) {
  Slot slot;
  slot.sequence = sequence;
  slot.state.group = group;
  return slot;
}

const SlotReading kBad = tl::make_unexpected(SlotFault::kChecksum);
const SlotReading kUnreadable = tl::make_unexpected(SlotFault::kUnreadable);

TEST(FrontierChoice, TheHigherSequenceWins) {
  const auto even = Choose({SlotWith(4), SlotWith(3)});
  ASSERT_TRUE(even);
  EXPECT_EQ(even->newest.sequence, 4U);
  EXPECT_EQ(even->position, 0U);
  EXPECT_EQ(even->partner, Partner::kPrevious);
  const auto odd = Choose({SlotWith(4), SlotWith(5)});
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->newest.sequence, 5U);
  EXPECT_EQ(odd->position, 1U);
}

TEST(FrontierChoice, OneGoodSlotIsEnough) {
  for (const SlotReading& lost : {kBad, kUnreadable}) {
    const auto first = Choose({SlotWith(4), lost});
    ASSERT_TRUE(first);
    EXPECT_EQ(first->newest.sequence, 4U);
    EXPECT_EQ(first->partner, Partner::kLost);
    const auto second = Choose({lost, SlotWith(3)});
    ASSERT_TRUE(second);
    EXPECT_EQ(second->position, 1U);
    EXPECT_EQ(second->partner, Partner::kLost);
  }
}

TEST(FrontierChoice, NoGoodSlotIsARefusal) {
  EXPECT_EQ(Choose({kBad, kBad}).error(), FrontierRefusal::kUnverified);
  EXPECT_EQ(Choose({kBad, kUnreadable}).error(), FrontierRefusal::kUnverified);
  EXPECT_EQ(Choose({kUnreadable, kUnreadable}).error(), FrontierRefusal::kUnreadable);
}

TEST(FrontierChoice, ForeignIdentityIsARefusal) {
  EXPECT_EQ(Choose({SlotWith(4), SlotWith(3, 2)}).error(), FrontierRefusal::kIdentityMismatch);
  EXPECT_TRUE(Choose({SlotWith(4), SlotWith(3, 2)}, false));
}

// Every pair of sequences up to 8: what a history of publications, with at most one write lost or
// misdirected, can leave behind.
TEST(FrontierChoice, EveryPairOfSequences) {
  for (std::uint64_t a = 1; a <= 8; ++a) {
    for (std::uint64_t b = 1; b <= 8; ++b) {
      const auto choice = Choose({SlotWith(a), SlotWith(b)});
      const std::uint64_t gap = a > b ? a - b : b - a;
      const int misplaced = (a % 2 != 0 ? 1 : 0) + (b % 2 != 1 ? 1 : 0);
      std::optional<Partner> expected;
      if (misplaced == 0 && gap == 1) expected = Partner::kPrevious;
      if (misplaced == 0 && gap == 3) expected = Partner::kSkipped;
      if (misplaced == 1 && gap == 2) expected = Partner::kMisplaced;
      if (misplaced == 2 && gap == 1) expected = Partner::kMisplaced;
      ASSERT_EQ(choice.has_value(), expected.has_value()) << a << " " << b;
      if (!expected) {
        EXPECT_EQ(choice.error(), FrontierRefusal::kSequenceMismatch);
        continue;
      }
      EXPECT_EQ(choice->partner, *expected) << a << " " << b;
      EXPECT_EQ(choice->newest.sequence, std::max(a, b));
      EXPECT_EQ(choice->position, a > b ? 0U : 1U);
    }
  }
}

}  // namespace
}  // namespace tornfs::journal
