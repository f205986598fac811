// RecordDecoder: inodes, the tree of the start and the durable trees after it.
#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fusefs/core/trace_decoder.h"
#include "fusefs/core/trace_format.h"

namespace tornfs::trace {

// An attribute's name, and behind a NUL its value.
std::string RecordDecoder::TakeXattr(ByteReader& in) {
  std::string packed = TakeString(in);
  const std::size_t name = XattrChange::Of(packed).name.size();
  in.Require(name > 0 && name <= kMaxNameBytes, "holds an impossible attribute name");
  return packed;
}

void RecordDecoder::TakeMore(ByteReader& in, Inode& inode) {
  inode.flags = static_cast<std::uint32_t>(in.Varint(UINT32_MAX));
  inode.btime = TakeTime(in, recording_.start.time);
  for (std::uint64_t count = in.Count(1); count > 0 && in.ok(); --count) {
    const std::string packed = TakeXattr(in);
    const XattrChange xattr = XattrChange::Of(packed);
    in.Require(xattr.value.has_value(), "an attribute has no value");
    if (!in.ok()) return;
    inode.xattrs.Set(std::string(xattr.name), std::make_shared<const std::string>(*xattr.value));
  }
  for (std::uint64_t count = in.Count(2); count > 0 && in.ok(); --count) {
    const std::uint64_t offset = in.Varint(kMaxFileBytes);
    const std::uint64_t length = in.Varint(kMaxFileBytes - offset);
    if (in.ok()) inode.reserved.Write(offset, length, offset);
  }
}

void RecordDecoder::TakeFields(ByteReader& in, unsigned fields, Inode& inode) {
  constexpr std::uint64_t k32Bits = UINT32_MAX;
  if ((fields & kOwner) != 0) {
    const auto mode = static_cast<std::uint32_t>(in.Varint(kMore | S_IFMT | 07777));
    inode.mode = mode & ~kMore;
    inode.uid = static_cast<uid_t>(in.Varint(k32Bits));
    inode.gid = static_cast<gid_t>(in.Varint(k32Bits));
    inode.flags = 0;
    inode.btime = 0;
    inode.xattrs = {};
    inode.reserved = {};
    if ((mode & kMore) != 0) TakeMore(in, inode);
  }
  if ((fields & kCounts) != 0) {
    inode.links = static_cast<std::uint32_t>(in.Varint(k32Bits));
    inode.subdirectories = static_cast<std::uint32_t>(in.Varint(k32Bits));
  }
  if ((fields & kSize) != 0) inode.size = in.Varint(kMaxFileBytes);
  if ((fields & kTimes) != 0) {
    inode.atime = TakeTime(in, recording_.start.time);
    inode.mtime = TakeTime(in, recording_.start.time);
    inode.ctime = TakeTime(in, recording_.start.time);
  }
  if ((fields & kPlace) != 0) {
    inode.parent = in.Varint(recording_.next_ino - 1);
    inode.name = TakeString(in);
    in.Require(inode.name.empty() || IsName(inode.name), "holds an impossible file name");
  }
  if ((fields & kFixed) != 0) {
    inode.device = in.Varint();
    inode.target = TakeString(in);
  }
}

void RecordDecoder::TakeInode(ByteReader& in, unsigned fields, Ino ino, Inode& inode) {
  const mode_t type_before = inode.mode & S_IFMT;
  TakeFields(in, fields, inode);
  const mode_t type = inode.mode & S_IFMT;
  static constexpr mode_t kTypes[] = {S_IFREG,  S_IFDIR, S_IFLNK, S_IFIFO,
                                      S_IFSOCK, S_IFCHR, S_IFBLK};
  in.Require(std::ranges::find(kTypes, type) != std::end(kTypes), "an inode has no known type");
  in.Require(type_before == 0 || type_before == type, "an inode changes its type");
  if ((fields & kExtents) != 0) {
    in.Require(type == S_IFREG, "an inode that is no file has contents");
    TakeExtents(in, inode.content);
  }
  if ((fields & kEntries) != 0) {
    in.Require(type == S_IFDIR, "an inode that is no directory has entries");
    TakeEntries(in, ino);
  }
}

void RecordDecoder::TakeExtents(ByteReader& in, ExtentMap& content) const {
  for (std::uint64_t drops = in.Count(2); drops > 0 && in.ok(); --drops) {
    const std::uint64_t offset = in.Varint(kMaxFileBytes);
    const std::uint64_t length = in.Varint(kMaxFileBytes - offset);
    if (in.ok()) content.Write(offset, length, kZeros);
  }
  for (std::uint64_t sets = in.Count(3); sets > 0 && in.ok(); --sets) {
    const std::uint64_t offset = in.Varint(kMaxFileBytes);
    const std::uint64_t length = in.Varint(kMaxFileBytes - offset);
    const ContentPosition position = TakePlace(in, in.Varint(), length);
    if (in.ok()) content.Write(offset, length, position);
  }
}

void RecordDecoder::TakeEntries(ByteReader& in, Ino dir) {
  for (std::uint64_t count = in.Count(2); count > 0 && in.ok(); --count) {
    EntryKey key = EntryKey::Of(TakeName(in));
    const Ino child = in.Varint(recording_.next_ino - 1);
    if (in.ok()) new_entries_.push_back({dir, std::move(key), child});
  }
}

void RecordDecoder::PlaceEntries(ByteReader& in, Tree& tree) {
  for (NewEntry& entry : std::exchange(new_entries_, {})) {
    if (!in.ok()) return;
    auto& entries = tree.Change(entry.dir).entries;
    if (const Entry* before = entries.Find(entry.key)) --lives_.at(before->ino).entries;
    if (entry.child == kNoIno) {
      in.Require(entries.Erase(entry.key), "removes a name that is not there");
      continue;
    }
    const Inode* child = tree.Find(entry.child);
    in.Require(child != nullptr, "an entry leads to an unknown inode");
    if (child == nullptr) return;
    ++lives_.at(entry.child).entries;
    entries.Set(std::move(entry.key), {entry.child, child->mode & S_IFMT});
  }
}

void RecordDecoder::Base(ByteReader& in) {
  tornfs::Base& start = recording_.start;
  start.next_op = static_cast<OpNumber>(in.Varint(kNever - 1));
  start.next_ino = in.Varint();
  recording_.next_ino = in.Varint();
  start.time = static_cast<Nanoseconds>(in.Varint());
  pending_ = in.Varint();
  in.Require(
      start.next_op > 0 && start.next_ino > kRootIno && start.next_ino <= recording_.next_ino,
      "numbers out of order");
  last_ino_ = kNoIno;
  for (std::uint64_t count = in.Count(2); count > 0 && in.ok(); --count) {
    const Ino ino = TakeIno(in, start.next_ino - 1);
    Inode inode;
    TakeInode(in, in.Byte(), ino, inode);
    if (!in.ok()) return;
    lives_[ino].type = inode.mode & S_IFMT;
    start.durable.Add(ino, std::move(inode));
  }
  PlaceEntries(in, start.durable);
  const Inode* root = start.durable.Find(kRootIno);
  in.Require(root != nullptr && root->IsDirectory(), "has no root directory");
  if (in.ok()) CheckAcyclic(in);
}

// No directory of the start is its own ancestor.
void RecordDecoder::CheckAcyclic(ByteReader& in) const {
  const Tree& tree = recording_.start.durable;
  enum class Mark : std::uint8_t { kOpen, kDone };
  std::unordered_map<Ino, Mark> marks{{kRootIno, Mark::kOpen}};
  using Entries = PersistentMap<EntryKey, Entry>;
  std::vector<std::pair<Ino, Entries::Cursor>> path{
      {kRootIno, tree.Find(kRootIno)->entries.Begin()}};
  while (!path.empty()) {
    auto& [dir, cursor] = path.back();
    if (!cursor.valid()) {
      marks[dir] = Mark::kDone;
      path.pop_back();
      continue;
    }
    const Entry entry = cursor.value();
    cursor.Next();
    if (!S_ISDIR(entry.type)) continue;
    const auto [mark, is_new] = marks.try_emplace(entry.ino, Mark::kOpen);
    if (!is_new && mark->second == Mark::kOpen) return in.Fail("a directory contains itself");
    if (is_new) path.emplace_back(entry.ino, tree.Find(entry.ino)->entries.Begin());
  }
}

void RecordDecoder::Durable(ByteReader& in) {
  OpNumber cut = recording_.start.next_op;
  Tree tree = recording_.start.durable;
  auto birth = recording_.births.begin();
  for (std::uint64_t count = in.Count(2); count > 0 && in.ok(); --count) {
    const OpNumber before = cut;
    cut = TakeRise(in, cut, recording_.end());
    in.Require(cut > before || recording_.durable.empty(), "durable trees do not rise");
    for (; in.ok() && birth != recording_.births.end() && birth->op < cut; ++birth) {
      tree.Add(birth->ino, birth->initial);
    }
    TakeSnapshot(in, tree, cut);
    if (in.ok()) recording_.durable.push_back({cut, tree});
  }
  if (in.ok()) CheckLives(in);
}

void RecordDecoder::TakeSnapshot(ByteReader& in, Tree& tree, OpNumber cut) {
  std::vector<Ino> gone;
  last_ino_ = kNoIno;
  for (std::uint64_t count = in.Count(2); count > 0 && in.ok(); --count) {
    const Ino ino = TakeIno(in, recording_.next_ino - 1);
    const unsigned fields = in.Byte();
    in.Require(tree.Find(ino) != nullptr, "an unknown inode changes");
    if (!in.ok()) return;
    if (fields == 0) {
      gone.push_back(ino);
    } else {
      TakeInode(in, fields, ino, tree.Change(ino));
    }
  }
  PlaceEntries(in, tree);
  RemoveInodes(in, tree, gone, cut);
}

void RecordDecoder::RemoveInodes(ByteReader& in, Tree& tree, const std::vector<Ino>& gone,
                                 OpNumber cut) {
  if (!in.ok()) return;
  for (const Ino ino : gone) {
    in.Require(ino != kRootIno, "the root is removed");
    lives_.at(ino).gone = cut;
    for (auto entry = tree.Find(ino)->entries.Begin(); entry.valid(); entry.Next()) {
      --lives_.at(entry.value().ino).entries;
    }
  }
  for (const Ino ino : gone) {
    in.Require(lives_.at(ino).entries == 0, "an inode that has a name is removed");
    if (in.ok()) tree.Remove(ino);
  }
}

}  // namespace tornfs::trace
