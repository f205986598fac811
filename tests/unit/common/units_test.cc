#include "common/units.h"

#include <gtest/gtest.h>

namespace tornfs {
namespace {

TEST(Units, SizesTakeBinaryUnits) {
  EXPECT_EQ(ParseSize("4096").value(), 4096U);
  EXPECT_EQ(ParseSize("4KiB").value(), 4096U);
  EXPECT_EQ(ParseSize("2GiB").value(), 2ULL << 30);
}

TEST(Units, BadSizesAreRefused) {
  for (const char* text : {"", "KiB", "4kb", "-1", "4 KiB", "99999999999TiB", "1x"}) {
    EXPECT_EQ(ParseSize(text).error().code, ErrorCode::kInvalid) << text;
  }
}

TEST(Units, TimesNeedAUnit) {
  EXPECT_EQ(ParseDuration("1500ms").value().count(), 1500);
  EXPECT_EQ(ParseDuration("2m").value().count(), 120'000);
  EXPECT_FALSE(ParseDuration("30"));
  EXPECT_FALSE(ParseDuration("s"));
}

TEST(Units, SizesPrintShort) {
  EXPECT_EQ(FormatSize(17), "17 B");
  EXPECT_EQ(FormatSize(12288), "12 KiB");
  EXPECT_EQ(FormatSize(1536), "1.5 KiB");
}

}  // namespace
}  // namespace tornfs
