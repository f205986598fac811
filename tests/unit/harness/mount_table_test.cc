#include "harness/mount_table.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tornfs::harness {
namespace {

TEST(MountTable, EscapesAndOptionalFieldsAreUnderstood) {
  const auto table = ParseMountTable(
      "36 35 98:0 /mnt1 /mnt\\0402\\134x rw,noatime master:1 shared:2 - ext3 /dev/root "
      "rw,errors=x\n"
      "37 35 0:20 / /plain ro - fuse.tornfs a\\011b rw\n");
  ASSERT_EQ(table.size(), 2U);
  EXPECT_EQ(table[0].root, "/mnt1");
  EXPECT_EQ(table[0].point, "/mnt 2\\x");
  EXPECT_EQ(table[0].options, "rw,noatime");
  EXPECT_EQ(table[0].type, "ext3");
  EXPECT_EQ(table[0].source, "/dev/root");
  EXPECT_EQ(table[1].type, "fuse.tornfs");
  EXPECT_EQ(table[1].source, "a\tb");
}

TEST(MountTable, LinesOfAnotherShapeAreLeftOut) {
  EXPECT_TRUE(ParseMountTable("").empty());
  EXPECT_TRUE(ParseMountTable("nonsense\n1 2 3 4 5 6 7\n1 2 3 4 5 6 -\n\n").empty());
}

TEST(MountTable, TheOwnTableHasARoot) {
  const auto table = ReadMountTable();
  ASSERT_TRUE(table);
  EXPECT_TRUE(std::any_of(table->begin(), table->end(),
                          [](const MountEntry& entry) { return entry.point == "/"; }));
}

}  // namespace
}  // namespace tornfs::harness
