#include "harness/calibrate/oracle.h"

#include <gtest/gtest.h>

namespace tornfs::harness {
namespace {

TEST(Oracle, TreesAreComparedAsText) {
  EXPECT_TRUE(MatchesTree("{f=F[o*10]}", "{f=F[o*10]}"));
  EXPECT_FALSE(MatchesTree("{f=F[o*10]}", "{f=F[o*11]}"));
  EXPECT_FALSE(MatchesTree("{f=F[o*10]}", "{g=F[o*10]}"));
}

TEST(Oracle, StaleBytesMatchAnything) {
  EXPECT_TRUE(MatchesTree("{f=F[?*10]}", "{f=F[o*10]}"));
  EXPECT_TRUE(MatchesTree("{f=F[?*10]}", "{f=F[o*4 0*6]}"));
  EXPECT_TRUE(MatchesTree("{f=F[a*5 ?*10 b*2]}", "{f=F[a*7 ?*3 b*7]}"));
  EXPECT_TRUE(MatchesTree("{d=D; f=F[?*10] nl2}", "{d=D; f=F[x*10] nl2}"));
}

TEST(Oracle, StaleBytesKeepLengthAndNeighbours) {
  EXPECT_FALSE(MatchesTree("{f=F[?*10]}", "{f=F[o*11]}"));
  EXPECT_FALSE(MatchesTree("{f=F[?*10]}", "{f=F[]}"));
  EXPECT_FALSE(MatchesTree("{f=F[a*5 ?*10]}", "{f=F[a*4 b*11]}"));
  EXPECT_FALSE(MatchesTree("{f=F[?*10]}", "{f=F[o*10]; g=F[]}"));
  EXPECT_FALSE(MatchesTree("{f=F[?*10]; g=F[]}", "{f=F[o*10]; g=F[x*1]}"));
}

TEST(Oracle, AStepUnderWayMayCountAsMadeOrNot) {
  // Empty at the start, there from the first step on.
  const AllowedSet allowed{true, {{"{}", "", {true, false}}, {"{f=F[]}", "", {false, true}}}};
  EXPECT_TRUE(MayLeave(allowed, "{}", 0, 0));
  EXPECT_TRUE(MayLeave(allowed, "{}", 0, 1));
  EXPECT_FALSE(MayLeave(allowed, "{}", 1, 1));
  EXPECT_TRUE(MayLeave(allowed, "{f=F[]}", 0, 1));
  EXPECT_FALSE(MayLeave(allowed, "{f=F[]}", 0, 0));
  EXPECT_FALSE(MayLeave(allowed, "{g=F[]}", 0, 1));
  EXPECT_EQ(FindAllowed(allowed, "{f=F[]}"), 1U);
  EXPECT_EQ(FindAllowed(allowed, "{g=F[]}"), SIZE_MAX);
}

}  // namespace
}  // namespace tornfs::harness
