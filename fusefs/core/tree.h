// Tree: a whole filesystem tree as a value.
//
// The base, the current tree and every crash state are Trees. Copying one costs nothing; changing
// one copies only what the change touches (fusefs/core/persistent_map.h).
//
// A Tree knows no history and no permissions; it holds inodes and directory entries and keeps link
// counts. An inode without a name may be in it: it is invisible until a name leads to it.
//
// Threads: none.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/hash.h"
#include "fusefs/core/extent_map.h"
#include "fusefs/core/persistent_map.h"
#include "fusefs/core/types.h"

namespace tornfs {

// The key of a directory entry. Entries are ordered by a 62-bit hash of the name, so a place in a
// listing (the cookie of telldir) survives any change of the directory, and equal sets of names
// list in equal order.
struct EntryKey {
  std::uint64_t hash = 0;
  std::string name;

  [[nodiscard]] static EntryKey Of(std::string_view name);
  friend auto operator<=>(const EntryKey&, const EntryKey&) = default;
};

struct Entry {
  Ino ino = kNoIno;
  mode_t type = 0;  // S_IFMT bits.
};

struct Inode {
  mode_t mode = 0;  // With the type.
  uid_t uid = 0;
  gid_t gid = 0;
  std::uint32_t links = 0;  // Names that lead here; programs see Inode::VisibleLinks.
  dev_t device = 0;
  std::uint64_t size = 0;
  Nanoseconds atime = 0;
  Nanoseconds mtime = 0;
  Nanoseconds ctime = 0;
  Nanoseconds btime = 0;    // Of birth.
  std::uint32_t flags = 0;  // FS_IMMUTABLE_FL, ...

  ExtentMap content;  // Regular files.
  // Whole pages that fallocate reserved and nothing was written to; they read as zeros. Positions
  // in it mean nothing. Like the times this is no cell.
  ExtentMap reserved;
  PersistentMap<std::string, std::shared_ptr<const std::string>> xattrs;
  PersistentMap<EntryKey, Entry> entries;  // Directories.
  std::uint32_t subdirectories = 0;
  std::string target;  // Symbolic links.

  // The directory and name that last led here: where `..` goes, and what reports call the inode.
  // kNoIno for the root and for an inode that never had a name.
  Ino parent = kNoIno;
  std::string name;

  // st_nlink: for a directory its name, its "." and the ".." of its subdirectories.
  [[nodiscard]] std::uint32_t VisibleLinks() const {
    return IsDirectory() && links > 0 ? 2 + subdirectories : links;
  }
  [[nodiscard]] bool IsDirectory() const { return S_ISDIR(mode); }
  [[nodiscard]] bool IsRegular() const { return S_ISREG(mode); }
};

class Tree {
 public:
  // An empty tree: a root directory, mode 0755, owned by `uid` and `gid`.
  [[nodiscard]] static Tree Empty(uid_t uid, gid_t gid, Nanoseconds now);

  // Null if there is none. Valid until the next change of any copy of this tree.
  [[nodiscard]] const Inode* Find(Ino ino) const;
  // To be changed. Requires that `ino` is there.
  [[nodiscard]] Inode& Change(Ino ino);
  // Adds an inode without a name. Requires that `ino` is not there.
  void Add(Ino ino, Inode inode);
  void Remove(Ino ino);

  // The entry `name` of directory `dir`, or null.
  [[nodiscard]] const Entry* FindEntry(Ino dir, std::string_view name) const;
  // Points `name` of `dir` at `child`, or at nothing (kNoIno), and keeps link counts, `..` and the
  // inode's remembered name. Returns what the name led to before. Requires that `dir` and `child`
  // are in the tree. The inodes left without a name stay.
  Ino SetEntry(Ino dir, std::string_view name, Ino child);

  // The path from the root by remembered names, "" for the root: "wal/000001.log". For an inode
  // that lost its name, the last one it had.
  [[nodiscard]] std::string PathOf(Ino ino) const;

  [[nodiscard]] std::size_t inodes() const { return inodes_.size(); }

  // Calls visit(ino, before, after) for each inode that may differ from the one in `before`: one of
  // the pointers is null where the other tree alone has it. An empty Tree gives every inode.
  // Cost: about that of the changes, if one tree was made from the other.
  template <class Visit>
  void ForEachChange(const Tree& before, Visit&& visit) const {
    inodes_.ForEachChange(
        before.inodes_, [](const auto& a, const auto& b) { return a == b; },
        [&](Ino ino, const std::shared_ptr<Shared>* old, const std::shared_ptr<Shared>* now) {
          visit(ino, old == nullptr ? nullptr : &(*old)->inode,
                now == nullptr ? nullptr : &(*now)->inode);
        });
  }

  // Drops every inode that no path from the root leads to, and counts links anew: names inside
  // unreachable directories no longer count. Cost: linear in the inodes.
  void KeepReachable();

  // A digest of everything a program can see from the root: names, types, modes, owners, sizes,
  // contents, link structure. Times and inode numbers are left out. Equal trees have equal digests
  // however they came about.
  // Cost: one step per reachable inode; contents are hashed once per version of an inode.
  [[nodiscard]] Digest VisibleDigest(const ContentStore& store) const;
  // The same with times and inode numbers: equal only for trees that no program can tell apart.
  [[nodiscard]] Digest ExactDigest(const ContentStore& store) const;

 private:
  // Shared by trees until changed.
  struct Shared {
    Inode inode;
    mutable std::optional<Digest> digest;  // Of the inode alone, without children.
  };
  [[nodiscard]] Digest OwnDigest(const Shared& shared, const ContentStore& store) const;
  [[nodiscard]] Digest WalkDigest(const ContentStore& store, bool exact) const;

  PersistentMap<Ino, std::shared_ptr<Shared>> inodes_;
};

}  // namespace tornfs
