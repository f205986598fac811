#include "common/hash.h"

#include <gtest/gtest.h>

namespace tornfs {
namespace {

TEST(Digest, SumCommutesAndUndoes) {
  const Digest a = Hash128("a");
  const Digest b = Hash128("b");
  Digest ab = a;
  ab += b;
  Digest ba = b;
  ba += a;
  EXPECT_EQ(ab, ba);
  ab -= b;
  EXPECT_EQ(ab, a);
}

TEST(Digest, SumCarries) {
  Digest value{~0ULL, 0};
  value += Digest{1, 0};
  EXPECT_EQ(value, (Digest{0, 1}));
  value -= Digest{1, 0};
  EXPECT_EQ(value, (Digest{~0ULL, 0}));
}

TEST(Digest, OrderMattersInMix) {
  EXPECT_NE(Mix(Hash128("a"), Hash128("b")), Mix(Hash128("b"), Hash128("a")));
}

TEST(Hash, SeedSeparates) { EXPECT_NE(Hash128("a", 0), Hash128("a", 1)); }

TEST(Hash, HexHasSixteenDigits) { EXPECT_EQ(Hex16(0xab), "00000000000000ab"); }

}  // namespace
}  // namespace tornfs
