#include "fusefs/core/trace_encoder.h"

#include <tuple>
#include <utility>

#include "common/check.h"
#include "fusefs/core/trace_format.h"

namespace tornfs::trace {
namespace {

bool SameXattrs(const Inode& a, const Inode& b) {
  bool same = true;
  b.xattrs.ForEachChange(
      a.xattrs, [](const auto& x, const auto& y) { return *x == *y; },
      [&](const std::string&, const auto&, const auto&) { same = false; });
  return same;
}

bool SameReserved(const Inode& a, const Inode& b) {
  bool same = true;
  b.reserved.ForEachChange(a.reserved,
                           [&](std::uint64_t, const Extent*, const Extent*) { same = false; });
  return same;
}

bool HasMore(const Inode& inode) {
  return inode.flags != 0 || inode.btime != 0 || !inode.xattrs.empty() ||
         inode.reserved.allocated() > 0;
}

unsigned ChangedFields(const Inode& a, const Inode& b) {
  unsigned fields = 0;
  if (std::tie(a.mode, a.uid, a.gid, a.flags, a.btime) !=
          std::tie(b.mode, b.uid, b.gid, b.flags, b.btime) ||
      !SameXattrs(a, b) || !SameReserved(a, b)) {
    fields |= kOwner;
  }
  if (std::tie(a.links, a.subdirectories) != std::tie(b.links, b.subdirectories)) fields |= kCounts;
  if (a.size != b.size) fields |= kSize;
  if (std::tie(a.atime, a.mtime, a.ctime) != std::tie(b.atime, b.mtime, b.ctime)) fields |= kTimes;
  if (std::tie(a.parent, a.name) != std::tie(b.parent, b.name)) fields |= kPlace;
  if (std::tie(a.device, a.target) != std::tie(b.device, b.target)) fields |= kFixed;
  return fields;
}

}  // namespace

RecordEncoder::RecordEncoder(const Recording& recording) : recording_(recording) {
  // Extents of later trees come from these and from the effects.
  recording.start.durable.ForEachChange(
      {}, [&](Ino, const Inode*, const Inode* inode) { contents_.Add(inode->content); });
  for (const Effect& effect : recording.effects) contents_.Add(effect.content, effect.length);
  contents_.Seal();
}

void RecordEncoder::PutString(ByteWriter& out, std::string_view text) {
  const bool shared = text.size() <= kSharedStringBytes;
  if (shared) {
    const auto [at, is_new] = shared_strings_.try_emplace(std::string(text), string_count_);
    out.Varint(at->second);
    if (!is_new) return;
  } else {
    out.Varint(string_count_);
  }
  ++string_count_;
  strings_.Varint(text.size());
  strings_.Raw(text);
}

void RecordEncoder::PutContent(ByteWriter& out, ContentPosition position,
                               std::uint64_t length) const {
  out.Varint(position == kZeros ? 0 : contents_.Place(position, length) + 1);
}

// Differences wrap, so that any two times have one.
void RecordEncoder::PutTime(ByteWriter& out, Nanoseconds time, Nanoseconds since) {
  out.Signed(static_cast<std::int64_t>(static_cast<std::uint64_t>(time) -
                                       static_cast<std::uint64_t>(since)));
}

void RecordEncoder::PutMore(ByteWriter& out, const Inode& now) {
  out.Varint(now.flags);
  PutTime(out, now.btime, recording_.start.time);
  out.Varint(now.xattrs.size());
  for (auto xattr = now.xattrs.Begin(); xattr.valid(); xattr.Next()) {
    PutString(out, XattrChange::Pack(xattr.key(), *xattr.value()));
  }
  ByteWriter ranges;
  std::uint64_t count = 0;
  now.reserved.ForEachChange({}, [&](std::uint64_t offset, const Extent*, const Extent* extent) {
    ++count;
    ranges.Varint(offset);
    ranges.Varint(extent->length);
  });
  out.Varint(count);
  out.Raw(ranges.bytes());
}

void RecordEncoder::PutFields(ByteWriter& out, unsigned fields, const Inode& now) {
  if ((fields & kOwner) != 0) {
    const bool more = HasMore(now);
    out.Varint(more ? now.mode | kMore : now.mode);
    out.Varint(now.uid);
    out.Varint(now.gid);
    if (more) PutMore(out, now);
  }
  if ((fields & kCounts) != 0) {
    out.Varint(now.links);
    out.Varint(now.subdirectories);
  }
  if ((fields & kSize) != 0) out.Varint(now.size);
  if ((fields & kTimes) != 0) {
    PutTime(out, now.atime, recording_.start.time);
    PutTime(out, now.mtime, recording_.start.time);
    PutTime(out, now.ctime, recording_.start.time);
  }
  if ((fields & kPlace) != 0) {
    out.Varint(now.parent);
    PutString(out, now.name);
  }
  if ((fields & kFixed) != 0) {
    out.Varint(now.device);
    PutString(out, now.target);
  }
}

std::uint64_t RecordEncoder::PutExtents(ByteWriter& out, const Inode& before,
                                        const Inode& now) const {
  ByteWriter dropped;
  ByteWriter set;
  std::uint64_t drops = 0;
  std::uint64_t sets = 0;
  now.content.ForEachChange(before.content,
                            [&](std::uint64_t offset, const Extent* old, const Extent* extent) {
                              if (old != nullptr) {
                                ++drops;
                                dropped.Varint(offset);
                                dropped.Varint(old->length);
                              }
                              if (extent != nullptr) {
                                ++sets;
                                set.Varint(offset);
                                set.Varint(extent->length);
                                set.Varint(contents_.Place(extent->position, extent->length));
                              }
                            });
  out.Varint(drops);
  out.Raw(dropped.bytes());
  out.Varint(sets);
  out.Raw(set.bytes());
  return drops + sets;
}

std::uint64_t RecordEncoder::PutEntries(ByteWriter& out, const Inode& before, const Inode& now) {
  ByteWriter entries;
  std::uint64_t count = 0;
  now.entries.ForEachChange(
      before.entries, [](const Entry& a, const Entry& b) { return a.ino == b.ino; },
      [&](const EntryKey& key, const Entry*, const Entry* entry) {
        ++count;
        PutString(entries, key.name);
        entries.Varint(entry == nullptr ? kNoIno : entry->ino);
      });
  out.Varint(count);
  out.Raw(entries.bytes());
  return count;
}

bool RecordEncoder::PutInode(ByteWriter& out, Ino ino, const Inode& before, const Inode& now) {
  unsigned fields = ChangedFields(before, now);
  ByteWriter extents;
  ByteWriter entries;
  if (PutExtents(extents, before, now) > 0) fields |= kExtents;
  if (PutEntries(entries, before, now) > 0) fields |= kEntries;
  if (fields == 0) return false;
  out.Varint(ino - std::exchange(last_ino_, ino));
  out.Byte(static_cast<std::uint8_t>(fields));
  PutFields(out, fields, now);
  if ((fields & kExtents) != 0) out.Raw(extents.bytes());
  if ((fields & kEntries) != 0) out.Raw(entries.bytes());
  return true;
}

std::string RecordEncoder::Base() {
  const tornfs::Base& start = recording_.start;
  ByteWriter out;
  out.Varint(start.next_op);
  out.Varint(start.next_ino);
  out.Varint(recording_.next_ino);
  out.Varint(static_cast<std::uint64_t>(start.time));
  out.Varint(start.pending.size());
  out.Varint(start.durable.inodes());
  last_ino_ = kNoIno;
  start.durable.ForEachChange({}, [&](Ino ino, const Inode*, const Inode* inode) {
    CHECK(PutInode(out, ino, Inode(), *inode));
  });
  return out.bytes();
}

// The numbers follow from where they stand, and their effects from the effects' numbers.
std::string RecordEncoder::Ops() {
  ByteWriter out;
  out.Varint(recording_.ops.size());
  OpNumber number = recording_.start.next_op;
  auto first_effect = static_cast<std::uint32_t>(recording_.start.pending.size());
  Nanoseconds time = recording_.start.time;
  for (const Op& op : recording_.ops) {
    CHECK(op.number == number++ && op.first_effect == first_effect);
    first_effect += op.effects;
    out.Byte(static_cast<std::uint8_t>(op.kind));
    out.Signed(op.pid);
    out.Varint(op.ino);
    out.Varint(op.offset);
    out.Varint(op.length);
    PutString(out, op.path);
    PutString(out, op.to);
    PutTime(out, op.time, std::exchange(time, op.time));
  }
  CHECK(first_effect == recording_.effects.size());
  return out.bytes();
}

std::string RecordEncoder::Births() {
  ByteWriter out;
  out.Varint(recording_.births.size());
  OpNumber op = 0;
  last_ino_ = kNoIno;
  for (const Recording::Birth& birth : recording_.births) {
    out.Varint(birth.op - std::exchange(op, birth.op));
    CHECK(PutInode(out, birth.ino, Inode(), birth.initial));
  }
  return out.bytes();
}

void RecordEncoder::PutEffect(ByteWriter& out, const Effect& effect) {
  out.Byte(static_cast<std::uint8_t>(static_cast<unsigned>(effect.group) << kGroupShift |
                                     static_cast<unsigned>(effect.kind)));
  out.Varint(effect.ino);
  switch (effect.kind) {
    case CellKind::kData:
      out.Varint(effect.offset);
      out.Varint(effect.length);
      PutContent(out, effect.content, effect.length);
      break;
    case CellKind::kXattr: PutString(out, *effect.name); break;
    case CellKind::kEntry:
      PutString(out, *effect.name);
      out.Varint(effect.child);
      break;
    default: out.Varint(effect.value);
  }
}

std::string RecordEncoder::Effects() {
  ByteWriter out;
  out.Varint(recording_.effects.size());
  OpNumber op = 0;
  Nanoseconds time = recording_.start.time;
  for (std::size_t i = 0; i < recording_.effects.size(); ++i) {
    const Effect& effect = recording_.effects[i];
    const OpNumber durable_by = recording_.durable_by[i];
    CHECK(effect.op >= op && durable_by >= effect.op);
    out.Varint(effect.op - std::exchange(op, effect.op));
    PutTime(out, effect.time, std::exchange(time, effect.time));
    PutEffect(out, effect);
    out.Varint(durable_by == kNever ? 0 : std::uint64_t{durable_by} - effect.op + 1);
  }
  return out.bytes();
}

std::string RecordEncoder::Promises() {
  ByteWriter out;
  out.Varint(recording_.promises.size());
  OpNumber cut = 0;
  for (const Promise& promise : recording_.promises) {
    out.Varint(promise.cut - std::exchange(cut, promise.cut));
    PutString(out, promise.line);
  }
  return out.bytes();
}

void RecordEncoder::PutSnapshot(ByteWriter& out, const Tree& before, const Tree& now) {
  ByteWriter inodes;
  std::uint64_t count = 0;
  last_ino_ = kNoIno;
  now.ForEachChange(before, [&](Ino ino, const Inode* old, const Inode* inode) {
    CHECK(old != nullptr);  // What is new was born.
    if (inode != nullptr) {
      count += PutInode(inodes, ino, *old, *inode) ? 1 : 0;
      return;
    }
    ++count;
    inodes.Varint(ino - std::exchange(last_ino_, ino));
    inodes.Byte(0);
  });
  out.Varint(count);
  out.Raw(inodes.bytes());
}

// Each tree is written as what it differs in from the one before with the births in between. Of
// several at one cut only the last is ever looked at.
std::string RecordEncoder::Durable() {
  const auto& snapshots = recording_.durable;
  ByteWriter list;
  std::uint64_t count = 0;
  OpNumber cut = recording_.start.next_op;
  Tree tree = recording_.start.durable;
  auto birth = recording_.births.begin();
  for (std::size_t i = 0; i < snapshots.size(); ++i) {
    if (i + 1 < snapshots.size() && snapshots[i + 1].cut == snapshots[i].cut) continue;
    ++count;
    list.Varint(snapshots[i].cut - std::exchange(cut, snapshots[i].cut));
    for (; birth != recording_.births.end() && birth->op < cut; ++birth) {
      tree.Add(birth->ino, birth->initial);
    }
    PutSnapshot(list, tree, snapshots[i].tree);
    tree = snapshots[i].tree;
  }
  ByteWriter out;
  out.Varint(count);
  out.Raw(list.bytes());
  return out.bytes();
}

std::string RecordEncoder::Strings() const {
  ByteWriter out;
  out.Varint(string_count_);
  out.Raw(strings_.bytes());
  return out.bytes();
}

}  // namespace tornfs::trace
