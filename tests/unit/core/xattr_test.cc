// Extended attributes, ACLs and flags: what calls answer, and that each is a cell of its own.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/fs.h>
#include <sys/xattr.h>

#include "engine_fixture.h"
#include "fusefs/core/posix_acl.h"

namespace tornfs {
namespace {

// An entry of an ACL in the form of the system call.
std::string Entry(unsigned tag, unsigned permissions, std::uint32_t id = UINT32_MAX) {
  std::string entry;
  for (const unsigned byte : {tag & 0xff, tag >> 8, permissions, 0U}) {
    entry += static_cast<char>(byte);
  }
  for (int shift = 0; shift < 32; shift += 8) entry += static_cast<char>(id >> shift & 0xff);
  return entry;
}

// user::rwx, user:7:r-x, group::r--, mask::rwx, other::---
std::string FullAcl() {
  return std::string("\2\0\0\0", 4) + Entry(1, 7) + Entry(2, 5, 7) + Entry(4, 4) + Entry(16, 7) +
         Entry(32, 0);
}

class XattrTest : public EngineFixture {
 protected:
  void Set(const std::string& path, const std::string& name, const std::string& value) {
    ASSERT_TRUE(engine_->SetXattr(me_, At(path), name, value, 0));
  }
  std::string Get(const Tree& tree, const std::string& path, std::string_view name) {
    const auto* value = tree.Find(At(path))->xattrs.Find(name);
    return value == nullptr ? "none" : **value;
  }
  int ErrorOf(const Outcome<void>& outcome) {
    return outcome ? 0 : static_cast<int>(outcome.error());
  }
  // The values of an attribute over all crash states.
  std::set<std::string> Values(const std::string& path, const std::string& name) {
    std::set<std::string> values;
    const Window window = engine_->CrashWindow(Tear::kPage);
    for (const Choice& choice : window.Enumerate(1 << 12)) {
      values.insert(Get(window.State(choice), path, name));
    }
    return values;
  }
};

TEST_F(XattrTest, CreateAndReplaceAskForWhatIsThere) {
  Create("a");
  const Ino ino = At("a");
  EXPECT_EQ(ErrorOf(engine_->SetXattr(me_, ino, "user.x", "1", XATTR_REPLACE)), ENODATA);
  EXPECT_EQ(ErrorOf(engine_->SetXattr(me_, ino, "user.x", "1", XATTR_CREATE)), 0);
  EXPECT_EQ(ErrorOf(engine_->SetXattr(me_, ino, "user.x", "2", XATTR_CREATE)), EEXIST);
  EXPECT_EQ(engine_->GetXattr(ino, "user.x").value(), "1");
  EXPECT_EQ(ErrorOf(engine_->RemoveXattr(me_, ino, "user.x")), 0);
  EXPECT_EQ(ErrorOf(engine_->RemoveXattr(me_, ino, "user.x")), ENODATA);
  EXPECT_EQ(ErrorOf(engine_->SetXattr(me_, ino, "other.x", "1", 0)), EOPNOTSUPP);
  EXPECT_EQ(ErrorOf(engine_->SetXattr(me_, ino, "user.", "1", 0)), EINVAL);
}

TEST_F(XattrTest, ListHidesTrustedFromWhoMayNotSee) {
  Create("a");
  Set("a", "user.x", "1");
  Set("a", "trusted.y", "2");
  using namespace std::string_literals;
  EXPECT_EQ(engine_->ListXattrs(At("a"), false).value(), "user.x\0"s);
  EXPECT_EQ(engine_->ListXattrs(At("a"), true).value(), "trusted.y\0user.x\0"s);
}

TEST_F(XattrTest, EachAttributeIsLostByItself) {
  Create("a");
  Sync();
  Set("a", "user.x", "1");
  Set("a", "user.y", "2");
  Set("a", "user.x", "3");
  EXPECT_EQ(Values("a", "user.x"), (std::set<std::string>{"none", "1", "3"}));
  EXPECT_EQ(Values("a", "user.y"), (std::set<std::string>{"none", "2"}));
  EXPECT_EQ(engine_->CrashWindow(Tear::kPage).Count(100), 6U);
}

TEST_F(XattrTest, FsyncMakesThemDurableAndFdatasyncDoesNot) {
  Create("a");
  Sync();
  Set("a", "user.x", "1");
  Fdatasync("a");
  EXPECT_EQ(Values("a", "user.x"), (std::set<std::string>{"none", "1"}));
  Fsync("a");
  EXPECT_EQ(Values("a", "user.x"), (std::set<std::string>{"1"}));
}

TEST_F(XattrTest, TheSameValueAgainIsNoNode) {
  Create("a");
  Set("a", "user.x", "1");
  Sync();
  Set("a", "user.x", "1");
  EXPECT_TRUE(engine_->CrashWindow(Tear::kPage).nodes().empty());
}

TEST_F(XattrTest, AttributesChangeTheDigest) {
  Create("a");
  const Digest before = VisibleNow();
  Set("a", "user.x", "1");
  const Digest with = VisibleNow();
  EXPECT_NE(before, with);
  ASSERT_TRUE(engine_->RemoveXattr(me_, At("a"), "user.x"));
  EXPECT_EQ(VisibleNow(), before);
}

TEST_F(XattrTest, AclAndModeFollowEachOther) {
  Create("a");
  Set("a", std::string(kAccessAcl), FullAcl());
  EXPECT_EQ(engine_->Stat(At("a"))->st_mode & 0777, 0770U);
  AttributeChange chmod;
  chmod.mode = 0750;
  ASSERT_TRUE(engine_->SetAttributes(me_, At("a"), chmod));
  const auto acl = PosixAcl::Parse(engine_->GetXattr(At("a"), kAccessAcl).value()).value();
  EXPECT_EQ(acl.Mode(), 0750U);
}

TEST_F(XattrTest, AclAndModeSurviveTogether) {
  Create("a");
  Sync();
  Set("a", std::string(kAccessAcl), FullAcl());
  EXPECT_EQ(engine_->CrashWindow(Tear::kPage).Count(100), 2U);
}

TEST_F(XattrTest, DefaultAclIsInheritedAndOverrulesUmask) {
  Mkdir("d");
  Set("d", std::string(kDefaultAcl), FullAcl());
  me_.umask = 0077;
  ASSERT_TRUE(engine_->MakeNode(me_, At("d"), "f", S_IFREG | 0666, 0));
  EXPECT_EQ(engine_->Stat(At("d/f"))->st_mode & 0777, 0660U);
  ASSERT_TRUE(engine_->MakeDirectory(me_, At("d"), "e", 0777));
  EXPECT_EQ(engine_->GetXattr(At("d/e"), kDefaultAcl).value(), FullAcl());
  ASSERT_TRUE(engine_->MakeNode(me_, kRootIno, "g", S_IFREG | 0666, 0));
  EXPECT_EQ(engine_->Stat(At("g"))->st_mode & 0777, 0600U);
}

TEST_F(XattrTest, DefaultAclOfAFileIsRefused) {
  Create("a");
  EXPECT_EQ(ErrorOf(engine_->SetXattr(me_, At("a"), kDefaultAcl, FullAcl(), 0)), EACCES);
  EXPECT_EQ(ErrorOf(engine_->SetXattr(me_, At("a"), kAccessAcl, "nonsense", 0)), EINVAL);
}

TEST_F(XattrTest, WritingTakesSetIdBitsAndCapabilities) {
  Create("a");
  AttributeChange chmod;
  chmod.mode = 06755;
  ASSERT_TRUE(engine_->SetAttributes(me_, At("a"), chmod));
  Set("a", "security.capability", "any");
  Write("a", "as one who may keep them");
  EXPECT_EQ(engine_->Stat(At("a"))->st_mode & 07777, 06755U);
  EXPECT_FALSE(engine_->GetXattr(At("a"), "security.capability"));
  me_.clears_set_id = true;
  Write("a", "as one who may not");
  EXPECT_EQ(engine_->Stat(At("a"))->st_mode & 07777, 0755U);
}

TEST_F(XattrTest, OutsidersTakeSetGroupIdWithoutGroupExecution) {
  Create("a");
  AttributeChange chmod;
  chmod.mode = 06745;
  ASSERT_TRUE(engine_->SetAttributes(me_, At("a"), chmod));
  me_.clears_set_id = true;
  Write("a", "as one of its group");
  EXPECT_EQ(engine_->Stat(At("a"))->st_mode & 07777, 02745U);
  me_.foreign_group = true;
  ASSERT_TRUE(engine_->Truncate(me_, At("a"), 3));
  EXPECT_EQ(engine_->Stat(At("a"))->st_mode & 07777, 0745U);
}

TEST_F(XattrTest, ImmutableForbidsChanges) {
  Create("a");
  ASSERT_TRUE(engine_->SetFlags(me_, At("a"), FS_IMMUTABLE_FL));
  EXPECT_EQ(ErrorOf(engine_->Unlink(me_, kRootIno, "a")), EPERM);
  EXPECT_EQ(ErrorOf(engine_->Truncate(me_, At("a"), 0)), EPERM);
  EXPECT_EQ(ErrorOf(engine_->SetXattr(me_, At("a"), "user.x", "1", 0)), EPERM);
  EXPECT_EQ(ErrorOf(engine_->MayOpen(At("a"), O_WRONLY)), EPERM);
  EXPECT_EQ(ErrorOf(engine_->MayOpen(At("a"), O_RDONLY)), 0);
  ASSERT_TRUE(engine_->SetFlags(me_, At("a"), 0));
  EXPECT_EQ(ErrorOf(engine_->Unlink(me_, kRootIno, "a")), 0);
}

TEST_F(XattrTest, AnUnnamedFileGetsAName) {
  const Ino ino = engine_->MakeUnnamed(me_, kRootIno, 0600).value();
  engine_->Pin(ino);
  EXPECT_EQ(engine_->Stat(ino)->st_nlink, 0U);
  ASSERT_TRUE(engine_->Link(me_, ino, kRootIno, "a"));
  EXPECT_EQ(At("a"), ino);
  EXPECT_EQ(Outcomes(), (Trees{{}, {"a="}}));
  ASSERT_TRUE(engine_->Unlink(me_, kRootIno, "a"));
  EXPECT_EQ(ErrorOf(engine_->Link(me_, ino, kRootIno, "b")), ENOENT);
}

TEST_F(XattrTest, AWhiteoutComesWithItsRename) {
  Create("a");
  Sync();
  ASSERT_TRUE(engine_->Rename(me_, kRootIno, "a", kRootIno, "b", RENAME_WHITEOUT));
  EXPECT_TRUE(S_ISCHR(engine_->Stat(At("a"))->st_mode));
  EXPECT_EQ(Outcomes(), (Trees{{"a="}, {"a=", "b="}}));
}

TEST_F(XattrTest, ReservedPagesCountUntilTheyAreWrittenOrGivenBack) {
  Create("a");
  const auto blocks = [&] { return engine_->Stat(At("a"))->st_blocks; };
  ASSERT_TRUE(engine_->Allocate(me_, At("a"), FALLOC_FL_KEEP_SIZE, 0, 65536));
  EXPECT_EQ(blocks(), 128);
  Write("a", std::string(8192, 'x'), 100);
  EXPECT_EQ(blocks(), 128);
  ASSERT_TRUE(
      engine_->Allocate(me_, At("a"), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 16384));
  EXPECT_EQ(blocks(), 96);
  Truncate("a", 0);
  EXPECT_EQ(blocks(), 0);
}

}  // namespace
}  // namespace tornfs
