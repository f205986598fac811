// Engine: calls that change contents and sizes.
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fs.h>

#include <algorithm>

#include "fusefs/core/engine.h"

namespace tornfs {

Outcome<void> Engine::Write(const Caller& caller, Ino ino, std::uint64_t offset,
                            std::span<const std::byte> bytes, bool joins) {
  const auto inode = Regular(ino);
  if (!inode) return tl::make_unexpected(inode.error());
  if (bytes.empty()) return {};
  if (offset > kMaxFileBytes || bytes.size() > kMaxFileBytes - offset) return Refuse(EFBIG);
  const auto content = Keep(bytes);
  if (!content) return tl::make_unexpected(content.error());
  const std::uint64_t end = offset + bytes.size();
  const bool grows = end > (*inode)->size;
  Change change = Begin(OpKind::kWrite, caller, ino);
  if (joins) change.op.number = next_op_ - 1;
  ClearPrivileges(change, ino, caller, caller.clears_set_id);
  change.op.offset = offset;
  change.op.length = bytes.size();
  MakeData(change, ino, offset, bytes.size(), *content);
  if (grows) MakeSize(change, ino, end);
  Commit(std::move(change), joins);
  return {};
}

Outcome<void> Engine::WriteBack(const Caller& caller, Ino ino, std::uint64_t offset,
                                std::span<const std::byte> bytes) {
  const auto inode = Regular(ino);
  if (!inode) return tl::make_unexpected(inode.error());
  const std::uint64_t size = (*inode)->size;
  if (offset >= size) return {};
  bytes = bytes.first(std::min<std::uint64_t>(bytes.size(), size - offset));
  const auto content = Keep(bytes);
  if (!content) return tl::make_unexpected(content.error());
  Change change = Begin(OpKind::kWriteback, caller, ino);
  change.op.offset = offset;
  change.op.length = bytes.size();
  MakeData(change, ino, offset, bytes.size(), *content);
  Commit(std::move(change));
  return {};
}

// A smaller size, the blocks behind it dropped, and the rest of the last block zeroed. Filesystems
// that write in place do the last by itself, so it can be early or late.
void Engine::Cut(Change& change, Ino ino, std::uint64_t size) {
  const std::uint64_t old_size = current_.Find(ino)->size;
  const std::uint64_t block_end =
      std::min((size + kPageBytes - 1) / kPageBytes * kPageBytes, old_size);
  MakeSize(change, ino, size, GroupTag::kTruncate);
  MakeData(change, ino, block_end, old_size - block_end, kZeros, GroupTag::kTruncate);
  MakeData(change, ino, size, block_end - size, kZeros);
}

Outcome<void> Engine::Truncate(const Caller& caller, Ino ino, std::uint64_t size) {
  const auto inode = Regular(ino);
  if (!inode) return tl::make_unexpected(inode.error());
  if (size > kMaxFileBytes) return Refuse(EFBIG);
  if (auto may = MayChange(**inode); !may) return may;
  const std::uint64_t old_size = (*inode)->size;
  const ExtentMap before = (*inode)->content;
  Change change = Begin(OpKind::kTruncate, caller, ino);
  change.op.offset = size;
  ClearPrivileges(change, ino, caller, caller.clears_set_id);
  if (size < old_size) Cut(change, ino, size);
  if (size > old_size) MakeSize(change, ino, size);
  const Nanoseconds now = change.op.time;
  Commit(std::move(change));
  Thaw(ino);
  if (size > old_size) return {};  // What is reserved behind the end stays.
  const std::uint64_t kept = (size + kPageBytes - 1) / kPageBytes * kPageBytes;
  const bool same = size == old_size;
  if (same || current_.Find(ino)->reserved.allocated() > 0) {
    InBothTrees(ino, [&](Inode& each) {
      each.reserved.Cut(kept);
      if (same) each.mtime = each.ctime = now;
    });
  }
  // A page stays allocated whose rest is cut off, even if that was all that it held.
  const std::uint64_t page = size / kPageBytes * kPageBytes;
  const auto holds = [page](const ExtentMap& content) {
    return content.NextData(page) < page + kPageBytes;
  };
  if (size > page && holds(before) && !holds(current_.Find(ino)->content)) {
    Reserve(ino, FALLOC_FL_KEEP_SIZE, page, kPageBytes, before);
  }
  return {};
}

// The pages of a range get reserved, or are given back, as fallocate's `mode` says. `before` is
// what the file held.
void Engine::Reserve(Ino ino, int mode, std::uint64_t offset, std::uint64_t length,
                     const ExtentMap& before) {
  const std::uint64_t begin = offset / kPageBytes * kPageBytes;
  const std::uint64_t end = (offset + length + kPageBytes - 1) / kPageBytes * kPageBytes;
  const bool punch = (mode & FALLOC_FL_PUNCH_HOLE) != 0;
  InBothTrees(ino, [&](Inode& inode) {
    const auto reserve = [&](std::uint64_t from, std::uint64_t to) {
      inode.reserved.Write(from, to - from, from);
      inode.content.ForEach(from, to - from,
                            [&](std::uint64_t at, std::uint64_t n, ContentPosition position) {
                              if (position == kZeros) return;
                              const std::uint64_t page = at / kPageBytes * kPageBytes;
                              const std::uint64_t rest = at + n - page + kPageBytes - 1;
                              inode.reserved.Write(page, rest / kPageBytes * kPageBytes, kZeros);
                            });
    };
    if (!punch) return reserve(begin, end);
    // A page that is zeroed in part stays allocated.
    const auto held = [&](std::uint64_t page) {
      return before.NextData(page) < page + kPageBytes ||
             inode.reserved.NextData(page) < page + kPageBytes;
    };
    const bool first = offset > begin && held(begin);
    const bool last = offset + length < end && held(end - kPageBytes);
    inode.reserved.Write(begin, end - begin, kZeros);
    if (first) reserve(begin, begin + kPageBytes);
    if (last) reserve(end - kPageBytes, end);
  });
}

Outcome<void> Engine::Allocate(const Caller& caller, Ino ino, int mode, std::uint64_t offset,
                               std::uint64_t length) {
  const auto inode = Regular(ino);
  if (!inode) return tl::make_unexpected(inode.error());
  if (length == 0) return Refuse(EINVAL);
  const bool keep_size = (mode & FALLOC_FL_KEEP_SIZE) != 0;
  const int what = mode & ~FALLOC_FL_KEEP_SIZE;
  const bool punch = what == FALLOC_FL_PUNCH_HOLE && keep_size;
  const bool zero = what == FALLOC_FL_ZERO_RANGE;
  if (what != 0 && !punch && !zero) return Refuse(EOPNOTSUPP);
  if (offset > kMaxFileBytes || length > kMaxFileBytes - offset) return Refuse(EFBIG);
  if (punch || zero || ((*inode)->flags & FS_IMMUTABLE_FL) != 0) {
    if (auto may = MayChange(**inode); !may) return may;
  }
  const std::uint64_t end = offset + length;
  const std::uint64_t size = (*inode)->size;
  const ExtentMap before = (*inode)->content;
  if (!punch && length > StatFs().f_bfree * kPageBytes) return Refuse(ENOSPC);
  Change change = Begin(OpKind::kFallocate, caller, ino);
  change.op.offset = offset;
  change.op.length = length;
  ClearPrivileges(change, ino, caller, caller.clears_set_id);
  if (punch || zero) {
    const std::uint64_t begin = std::min(offset, size);
    MakeData(change, ino, begin, std::min(end, size) - begin, kZeros);
  }
  if (!keep_size && end > size) MakeSize(change, ino, end);
  const Nanoseconds now = change.op.time;
  Commit(std::move(change));
  Reserve(ino, mode, offset, length, before);
  InBothTrees(ino, [&](Inode& each) { each.mtime = each.ctime = now; });
  return {};
}

Outcome<std::uint64_t> Engine::CopyRange(const Caller& caller, Ino from, std::uint64_t from_offset,
                                         Ino to, std::uint64_t to_offset, std::uint64_t length) {
  const auto source = Regular(from);
  if (!source) return tl::make_unexpected(source.error());
  const auto target = Regular(to);
  if (!target) return tl::make_unexpected(target.error());
  const std::uint64_t size = (*source)->size;
  if (from_offset >= size) return 0;
  length = std::min(length, size - from_offset);
  if (from == to && from_offset < to_offset + length && to_offset < from_offset + length) {
    return Refuse(EINVAL);
  }
  if (to_offset > kMaxFileBytes || length > kMaxFileBytes - to_offset) return Refuse(EFBIG);
  // The copy refers to the bytes where they are; nothing is stored twice.
  const ExtentMap content = (*source)->content;
  Change change = Begin(OpKind::kCopyRange, caller, to);
  change.op.offset = to_offset;
  change.op.length = length;
  const std::uint64_t end = to_offset + length;
  const bool grows = end > (*target)->size;
  ClearPrivileges(change, to, caller, caller.clears_set_id);
  content.ForEach(from_offset, length, [&](std::uint64_t at, std::uint64_t n, ContentPosition p) {
    MakeData(change, to, to_offset + (at - from_offset), n, p);
  });
  if (grows) MakeSize(change, to, end);
  Commit(std::move(change));
  return length;
}

}  // namespace tornfs
