// RecordDecoder: strings, numbers, ops, births and promises.
#include "fusefs/core/trace_decoder.h"

#include <algorithm>
#include <utility>

#include "fusefs/core/trace_format.h"

namespace tornfs::trace {

bool IsName(std::string_view name) {
  return !name.empty() && name.size() <= kMaxNameBytes && name != "." && name != ".." &&
         name.find('/') == std::string_view::npos && name.find('\0') == std::string_view::npos;
}

void RecordDecoder::Strings(ByteReader& in) {
  const std::uint64_t count = in.Count();
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) strings_.push_back(in.Raw(in.Varint()));
  used_.resize(strings_.size(), false);
  names_.resize(strings_.size());
}

std::uint64_t RecordDecoder::TakeStringIndex(ByteReader& in) {
  const std::uint64_t index = in.Varint();
  in.Require(index < strings_.size(), "refers to an unknown string");
  return in.ok() ? index : UINT64_MAX;
}

std::string RecordDecoder::TakeString(ByteReader& in) {
  const std::uint64_t index = TakeStringIndex(in);
  if (!in.ok()) return {};
  if (strings_[index].size() > kSharedStringBytes) {
    in.Require(!used_[index], "a long string is used twice");
    used_[index] = true;
  }
  return in.ok() ? std::string(strings_[index]) : std::string();
}

std::string RecordDecoder::TakeName(ByteReader& in) {
  const std::string name = TakeString(in);
  in.Require(IsName(name), "holds an impossible file name");
  return name;
}

std::shared_ptr<const std::string> RecordDecoder::TakeSharedName(ByteReader& in) {
  const std::uint64_t index = TakeStringIndex(in);
  if (!in.ok()) return nullptr;
  in.Require(IsName(strings_[index]), "holds an impossible file name");
  auto& name = names_[index];
  if (in.ok() && name == nullptr) name = std::make_shared<const std::string>(strings_[index]);
  return name;
}

Nanoseconds RecordDecoder::TakeTime(ByteReader& in, Nanoseconds since) {
  return static_cast<Nanoseconds>(static_cast<std::uint64_t>(since) +
                                  static_cast<std::uint64_t>(in.Signed()));
}

OpNumber RecordDecoder::TakeRise(ByteReader& in, OpNumber from, OpNumber limit) {
  return from + static_cast<OpNumber>(in.Varint(limit - from));
}

Ino RecordDecoder::TakeIno(ByteReader& in, Ino limit) {
  const std::uint64_t rise = in.Varint(limit - last_ino_);
  in.Require(rise > 0, "inode numbers do not rise");
  return last_ino_ += rise;
}

ContentPosition RecordDecoder::TakePlace(ByteReader& in, std::uint64_t place,
                                         std::uint64_t length) const {
  const auto after = std::ranges::upper_bound(contents_, place, {}, &StoredRange::place);
  if (after != contents_.begin()) {
    const StoredRange& range = *std::prev(after);
    const std::uint64_t at = place - range.place;
    if (at <= range.length && length <= range.length - at) return range.position + at;
  }
  in.Fail("refers to contents that are not there");
  return kZeros;
}

void RecordDecoder::Ops(ByteReader& in) {
  const std::uint64_t count = in.Count(8);
  in.Require(count < kNever - recording_.start.next_op, "has too many ops");
  OpNumber number = recording_.start.next_op;
  Nanoseconds time = recording_.start.time;
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    Op op;
    op.number = number++;
    const std::uint8_t kind = in.Byte();
    in.Require(kind < kOpKinds, "has an unknown kind of op");
    op.kind = static_cast<OpKind>(kind);
    const std::int64_t pid = in.Signed();
    in.Require(pid == static_cast<pid_t>(pid), "a number is out of range");
    op.pid = static_cast<pid_t>(pid);
    op.ino = in.Varint(recording_.next_ino - 1);
    op.offset = in.Varint();
    op.length = in.Varint();
    op.path = TakeString(in);
    op.to = TakeString(in);
    op.time = time = TakeTime(in, time);
    if (in.ok()) recording_.ops.push_back(std::move(op));
  }
}

void RecordDecoder::Births(ByteReader& in) {
  const OpNumber last = recording_.end() - 1;
  OpNumber op = 0;
  last_ino_ = kNoIno;
  for (std::uint64_t count = in.Count(3); count > 0 && in.ok(); --count) {
    op = TakeRise(in, op, last);
    const Ino ino = TakeIno(in, recording_.next_ino - 1);
    in.Require(op >= recording_.start.next_op && ino >= recording_.start.next_ino,
               "an inode is born before the start");
    const unsigned fields = in.Byte();
    in.Require((fields & (kExtents | kEntries)) == 0, "an inode is born with contents");
    Inode inode;
    TakeInode(in, fields, ino, inode);
    if (!in.ok()) return;
    lives_[ino] = {inode.mode & S_IFMT, op, kNever, 0};
    recording_.births.push_back({op, ino, std::move(inode)});
  }
}

void RecordDecoder::Promises(ByteReader& in) {
  OpNumber cut = 0;
  for (std::uint64_t count = in.Count(2); count > 0 && in.ok(); --count) {
    cut = TakeRise(in, cut, recording_.end());
    in.Require(cut >= recording_.start.next_op, "a promise is made before the start");
    std::string line = TakeString(in);
    if (in.ok()) recording_.promises.push_back({cut, std::move(line)});
  }
}

}  // namespace tornfs::trace
