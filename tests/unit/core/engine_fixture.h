// A small language for engine tests: files by path, contents as text.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>

#include "fusefs/core/engine.h"

namespace tornfs {

class EngineFixture : public ::testing::Test {
 protected:
  void UseModel(std::string_view name) {
    engine_ =
        std::make_unique<Engine>(*store_, *FindModel(name).value(), [this] { return ++now_; });
  }

  Ino At(const std::string& path) {
    Ino ino = kRootIno;
    std::size_t begin = 0;
    while (begin < path.size()) {
      const std::size_t end = std::min(path.find('/', begin), path.size());
      ino = engine_->Lookup(ino, path.substr(begin, end - begin)).value();
      begin = end + 1;
    }
    return ino;
  }
  Ino DirOf(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? kRootIno : At(path.substr(0, slash));
  }
  static std::string NameOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

  void Mkdir(const std::string& path) {
    ASSERT_TRUE(engine_->MakeDirectory(me_, DirOf(path), NameOf(path), 0755));
  }
  void Create(const std::string& path) {
    ASSERT_TRUE(engine_->MakeNode(me_, DirOf(path), NameOf(path), S_IFREG | 0644, 0));
  }
  void Write(const std::string& path, const std::string& text, std::uint64_t offset = 0) {
    const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
    ASSERT_TRUE(engine_->Write(me_, At(path), offset, bytes));
  }
  void Append(const std::string& path, const std::string& text) {
    Write(path, text, static_cast<std::uint64_t>(engine_->Stat(At(path))->st_size));
  }
  void Truncate(const std::string& path, std::uint64_t size) {
    ASSERT_TRUE(engine_->Truncate(me_, At(path), size));
  }
  void Rename(const std::string& from, const std::string& to) {
    ASSERT_TRUE(engine_->Rename(me_, DirOf(from), NameOf(from), DirOf(to), NameOf(to), 0));
  }
  void Unlink(const std::string& path) {
    ASSERT_TRUE(engine_->Unlink(me_, DirOf(path), NameOf(path)));
  }
  void Link(const std::string& from, const std::string& to) {
    ASSERT_TRUE(engine_->Link(me_, At(from), DirOf(to), NameOf(to)));
  }
  void Fsync(const std::string& path) {
    ASSERT_TRUE(engine_->Barrier(me_, OpKind::kFsync, At(path)));
  }
  void Fdatasync(const std::string& path) {
    ASSERT_TRUE(engine_->Barrier(me_, OpKind::kFdatasync, At(path)));
  }
  void FsyncDir(const std::string& path) {
    ASSERT_TRUE(engine_->Barrier(me_, OpKind::kFsyncdir, At(path)));
  }
  void Sync() { engine_->SettleAll(); }
  // Recording begins: what is there already is durable, and the next op is the first.
  void Begin() {
    engine_->SettleAll();
    Base base = engine_->Snapshot();
    base.next_op = 1;
    engine_->Load(std::move(base), true);
  }

  // The files below `dir` of `tree`: "path=contents", run lengths as "a*10", directories "path/".
  std::set<std::string> Show(const Tree& tree, Ino dir = kRootIno, const std::string& at = "") {
    std::set<std::string> shown;
    for (auto entry = tree.Find(dir)->entries.Begin(); entry.valid(); entry.Next()) {
      const std::string path = at + entry.key().name;
      const Inode& inode = *tree.Find(entry.value().ino);
      if (inode.IsDirectory()) {
        shown.insert(path + "/");
        shown.merge(Show(tree, entry.value().ino, path + "/"));
      } else {
        shown.insert(path + "=" + Runs(inode));
      }
    }
    return shown;
  }
  std::string Runs(const Inode& inode) {
    std::vector<std::byte> bytes(inode.size);
    inode.content.Read(*store_, 0, bytes);
    std::string text;
    for (std::size_t i = 0; i < bytes.size();) {
      std::size_t end = i;
      while (end < bytes.size() && bytes[end] == bytes[i]) ++end;
      if (!text.empty()) text += " ";
      const char c = static_cast<char>(bytes[i]);
      text += c == 0 ? '0' : c;
      if (end - i > 1) text += "*" + std::to_string(end - i);
      i = end;
    }
    return text;
  }

  using Trees = std::set<std::set<std::string>>;
  Digest VisibleNow() { return engine_->current().VisibleDigest(*store_); }

  // Everything a power loss now can leave.
  Trees Outcomes(Tear tear = Tear::kPage) {
    const Window window = engine_->CrashWindow(tear);
    Trees trees;
    for (const Choice& choice : window.Enumerate(1 << 16)) {
      EXPECT_TRUE(window.Legal(choice));
      trees.insert(Show(window.State(choice)));
    }
    return trees;
  }

  Nanoseconds now_ = 1'000'000'000;
  Caller me_{1000, 1000, 1};
  std::unique_ptr<ContentStore> store_ = ContentStore::Open({}).value();
  std::unique_ptr<Engine> engine_ =
      std::make_unique<Engine>(*store_, *FindModel("posix").value(), [this] { return ++now_; });
};

}  // namespace tornfs
