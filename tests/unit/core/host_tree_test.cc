// Trees to and from directories of the host.
#include "fusefs/core/host_tree.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "unit/core/engine_fixture.h"

namespace tornfs {
namespace {

namespace fs = std::filesystem;

class HostTreeTest : public EngineFixture {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "host_tree_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    dir_ = pattern;
  }
  void TearDown() override {
    std::error_code ignored;
    fs::remove_all(dir_, ignored);
  }
  [[nodiscard]] std::string In(const std::string& name) const { return dir_ + "/" + name; }
  static void Put(const std::string& path, const std::string& text) { std::ofstream(path) << text; }
  ImportedTree Import(const std::string& path) { return ImportDirectory(*store_, path).value(); }
  Ino InoOf(const Tree& tree, std::string_view name) {
    const Entry* entry = tree.FindEntry(kRootIno, name);
    return entry == nullptr ? kNoIno : entry->ino;
  }

  std::string dir_;
};

TEST_F(HostTreeTest, ExportThenImportShowsTheSame) {
  me_ = {::geteuid(), ::getegid(), 1};
  ASSERT_TRUE(
      engine_->SetAttributes(me_, kRootIno, {.mode = 0750, .uid = me_.uid, .gid = me_.gid}));
  Mkdir("d");
  Mkdir("d/e");
  Create("d/f");
  Write("d/f", "hello");
  Write("d/f", std::string(5000, 'x'), 1 << 20);
  Truncate("d/f", (1 << 20) + 9000);
  Truncate("d/f", (1 << 20) + 10);
  Link("d/f", "a");
  Link("d/f", "d/e/z");
  Create("empty");
  ASSERT_TRUE(engine_->SetAttributes(me_, At("empty"), {.mode = 04711}));
  ASSERT_TRUE(engine_->MakeSymlink(me_, kRootIno, "l", "/etc/passwd"));
  ASSERT_TRUE(engine_->MakeNode(me_, kRootIno, "fifo", S_IFIFO | 0640, 0));
  ASSERT_TRUE(engine_->MakeNode(me_, kRootIno, "sock", S_IFSOCK | 0600, 0));
  ASSERT_TRUE(engine_->SetAttributes(me_, At("d/e"), {.mode = 0500, .mtime = 1'234'567'891}));

  const Tree& tree = engine_->current();
  ASSERT_TRUE(ExportTree(tree, *store_, In("out")));
  const ImportedTree back = Import(In("out"));
  EXPECT_EQ(back.tree.VisibleDigest(*store_), tree.VisibleDigest(*store_));
  EXPECT_EQ(back.tree.inodes(), tree.inodes());
  EXPECT_EQ(back.next_ino, back.tree.inodes() + 1);
  EXPECT_EQ(back.tree.Find(InoOf(back.tree, "a"))->links, 3U);
  const Ino d = InoOf(back.tree, "d");
  EXPECT_EQ(back.tree.Find(back.tree.FindEntry(d, "e")->ino)->mtime, 1'234'567'891);
  EXPECT_EQ(back.tree.Find(d)->mtime, tree.Find(At("d"))->mtime);
  ::chmod(In("out/d/e").c_str(), 0700);
}

TEST_F(HostTreeTest, ExtendedAttributesGoOutAndComeBack) {
  if (::setxattr(dir_.c_str(), "user.probe", "1", 1, 0) != 0) {
    GTEST_SKIP() << "no extended attributes in " << dir_;
  }
  me_ = {::geteuid(), ::getegid(), 1};
  Mkdir("d");
  Create("d/f");
  ASSERT_TRUE(engine_->SetXattr(me_, At("d"), "user.x", "of a directory", 0));
  ASSERT_TRUE(engine_->SetXattr(me_, At("d/f"), "user.y", std::string(300, 'y'), 0));
  ASSERT_TRUE(ExportTree(engine_->current(), *store_, In("out")));
  const ImportedTree back = Import(In("out"));
  const Ino d = InoOf(back.tree, "d");
  const Ino f = back.tree.FindEntry(d, "f")->ino;
  EXPECT_EQ(**back.tree.Find(d)->xattrs.Find("user.x"), "of a directory");
  EXPECT_EQ(**back.tree.Find(f)->xattrs.Find("user.y"), std::string(300, 'y'));
}

TEST_F(HostTreeTest, NumbersFollowTheSortedWalk) {
  fs::create_directory(In("b"));
  Put(In("b/y"), "1");
  Put(In("b/x"), "2");
  Put(In("c"), "3");
  Put(In("a"), "4");
  const Tree tree = Import(dir_).tree;
  EXPECT_EQ(InoOf(tree, "a"), 2U);
  EXPECT_EQ(InoOf(tree, "b"), 3U);
  EXPECT_EQ(tree.FindEntry(3, "x")->ino, 4U);
  EXPECT_EQ(tree.FindEntry(3, "y")->ino, 5U);
  EXPECT_EQ(InoOf(tree, "c"), 6U);
  EXPECT_EQ(tree.Find(kRootIno)->subdirectories, 1U);
}

TEST_F(HostTreeTest, ASymlinkIsNotFollowed) {
  fs::create_directory(In("outside"));
  Put(In("outside/secret"), "no");
  fs::create_directory(In("in"));
  fs::create_symlink("../outside", In("in/dir"));
  fs::create_symlink(In("outside/secret"), In("in/file"));
  const Tree tree = Import(In("in")).tree;
  EXPECT_EQ(tree.inodes(), 3U);
  EXPECT_EQ(tree.Find(InoOf(tree, "dir"))->target, "../outside");
  ASSERT_TRUE(ExportTree(tree, *store_, In("out")));
  EXPECT_EQ(fs::read_symlink(In("out/file")), In("outside/secret"));
}

TEST_F(HostTreeTest, HolesStayHoles) {
  const int fd = ::open(In("f").c_str(), O_RDWR | O_CREAT, 0644);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(::pwrite(fd, "x", 1, 1 << 20), 1);
  ASSERT_EQ(::ftruncate(fd, 4 << 20), 0);
  ::close(fd);
  const Tree tree = Import(dir_).tree;
  const Inode& inode = *tree.Find(InoOf(tree, "f"));
  EXPECT_EQ(inode.size, 4U << 20);
  EXPECT_LE(inode.content.allocated(), 65536U);
  ASSERT_TRUE(ExportTree(tree, *store_, In("out")));
  struct stat status {};
  ASSERT_EQ(::stat(In("out/f").c_str(), &status), 0);
  EXPECT_LE(status.st_blocks * 512, 65536);
}

TEST_F(HostTreeTest, BytesBeyondTheSizeAreNotExported) {
  Tree tree = Tree::Empty(::geteuid(), ::getegid(), 0);
  Inode file;
  file.mode = S_IFREG | 0644;
  file.size = 2;
  const std::string text = "keep";
  file.content.Write(0, 4, store_->Append(std::as_bytes(std::span(text))).value());
  tree.Add(2, file);
  tree.SetEntry(kRootIno, "f", 2);
  ASSERT_TRUE(ExportTree(tree, *store_, In("out")));
  EXPECT_EQ(fs::file_size(In("out/f")), 2U);
}

TEST_F(HostTreeTest, ErrorsNameThePath) {
  const auto missing = ImportDirectory(*store_, In("nothing"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().sys_errno, ENOENT);
  EXPECT_EQ(missing.error().context, In("nothing"));

  Put(In("file"), "x");
  EXPECT_FALSE(ImportDirectory(*store_, In("file")));
  EXPECT_FALSE(ExportTree(engine_->current(), *store_, In("file")));
  const auto full = ExportTree(engine_->current(), *store_, dir_);
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, ErrorCode::kInvalid);
  EXPECT_EQ(full.error().context, "export: " + dir_ + " is not empty");

  const auto small = ContentStore::Open({.directory = "", .memory_limit = 0}).value();
  const auto no_room = ImportDirectory(*small, dir_);
  ASSERT_FALSE(no_room);
  EXPECT_EQ(no_room.error().sys_errno, ENOSPC);
  EXPECT_EQ(no_room.error().context, In("file"));
}

TEST_F(HostTreeTest, ADirectoryThatContainsItselfIsRefused) {
  Tree tree = Tree::Empty(::geteuid(), ::getegid(), 0);
  Inode dir;
  dir.mode = S_IFDIR | 0755;
  tree.Add(2, dir);
  tree.SetEntry(kRootIno, "d", 2);
  tree.SetEntry(2, "again", 2);
  const auto done = ExportTree(tree, *store_, In("out"));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().context, "export: " + In("out/d/again") + " contains itself");
}

}  // namespace
}  // namespace tornfs
