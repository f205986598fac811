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

TEST(Oracle, WhatMayBeBeforeTheSyncMayNotBeAfter) {
  const AllowedSet allowed{true, {{"{}", "order", false}, {"{f=F[]}", "", true}}};
  EXPECT_EQ(FindAllowed(allowed, "{}", false), 0U);
  EXPECT_EQ(FindAllowed(allowed, "{}", true), SIZE_MAX);
  EXPECT_EQ(FindAllowed(allowed, "{f=F[]}", true), 1U);
  EXPECT_EQ(FindAllowed(allowed, "{g=F[]}", false), SIZE_MAX);
}

}  // namespace
}  // namespace tornfs::harness
