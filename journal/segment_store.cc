#include "journal/segment_store.h"

#include <algorithm>

#include "common/check.h"

namespace tornfs::journal {
namespace {

constexpr std::size_t kCopyBytes = 1ULL << 20;
constexpr std::string_view kTemporarySuffix = ".tmp";

// Bodies from `first` on that one call can write.
std::size_t RunLength(std::span<const BodyWrite> writes, std::size_t first) {
  std::size_t end = first + 1;
  while (end < writes.size() && end - first < kVectorPartsMax &&
         writes[end].place.segment == writes[first].place.segment &&
         writes[end].place.position == writes[end - 1].place.end()) {
    ++end;
  }
  return end - first;
}

}  // namespace

Status RewriteInPlace(File& file, std::uint64_t bytes) {
  std::vector<std::byte> buffer(std::min<std::uint64_t>(bytes, kCopyBytes));
  for (std::uint64_t at = 0; at < bytes; at += buffer.size()) {
    const auto chunk = std::span(buffer).first(std::min<std::uint64_t>(bytes - at, kCopyBytes));
    const auto got = file.ReadAt(at, chunk);
    if (!got) return tl::make_unexpected(got.error());
    JOURNAL_TRY(file.WriteAt(at, chunk.first(*got)));
  }
  return file.Sync();
}

// Another segment of that start offset may still have the public name; its bytes live on under its
// own retained name. An empty file is taken over: the owner may have created it in advance.
Status SegmentStore::RemoveStalePublic(const SegmentKey& key) {
  const std::string name = InPartition(PublicName(key.start_offset));
  const auto found = storage_.Open(name, OpenMode::kRead);
  if (!found) return IsMissing(found.error()) ? Status() : tl::make_unexpected(found.error());
  const auto length = (*found)->Length();
  if (!length) return tl::make_unexpected(length.error());
  if (*length == 0) return {};
  return storage_.Unlink(name);
}

Result<File*> SegmentStore::Writer(const SegmentReference& place, std::uint64_t segment_bytes) {
  const SegmentKey& key = place.segment;
  const auto open = writers_.find(key);
  if (open != writers_.end()) return open->second.get();
  const std::string retained = RetainedName(key);
  reclaimer_.Cancel(retained);
  auto file = storage_.Open(retained, OpenMode::kReadWrite);
  if (!file) {
    if (!IsMissing(file.error())) return tl::make_unexpected(file.error());
    const std::string name = InPartition(PublicName(key.start_offset));
    if (place.position == 0) JOURNAL_TRY(RemoveStalePublic(key));
    file = storage_.Open(name, place.position == 0 ? OpenMode::kEnsure : OpenMode::kReadWrite);
    if (!file) return tl::make_unexpected(file.error());
    JOURNAL_TRY(storage_.Link(name, retained));
    links_dirty_ = true;
    if (place.position == 0 && options_.preallocate_segments) (*file)->Preallocate(segment_bytes);
  } else if (place.position == 0) {
    // Left behind by a process that published nothing of it, and not deleted.
    JOURNAL_TRY((*file)->Truncate(0));
    JOURNAL_TRY(RestorePublicName(key));
    links_dirty_ = true;
  }
  return (writers_[key] = std::move(*file)).get();
}

Status SegmentStore::Write(std::span<const BodyWrite> writes, std::uint64_t segment_bytes) {
  std::vector<std::span<const std::byte>> parts;
  for (std::size_t first = 0; first < writes.size(); first += parts.size()) {
    const SegmentReference& place = writes[first].place;
    const auto file = Writer(place, segment_bytes);
    if (!file) return tl::make_unexpected(file.error());
    parts.clear();
    for (const BodyWrite& write : writes.subspan(first, RunLength(writes, first))) {
      CHECK(write.body.size() == write.place.length);
      parts.push_back(write.body);
    }
    dirty_.insert(place.segment);
    JOURNAL_TRY((*file)->WriteParts(place.position, parts));
  }
  return {};
}

Status SegmentStore::CheckReference(const SegmentReference& reference) {
  auto file = storage_.Open(RetainedName(reference.segment), OpenMode::kRead);
  if (!file && IsMissing(file.error())) {
    const std::string name = InPartition(PublicName(reference.segment.start_offset));
    file = storage_.Open(name, OpenMode::kRead);
    if (!file && IsMissing(file.error())) {
      return Fail(ErrorKind::kInvalid, "the reference names " + name + ", which does not exist");
    }
  }
  if (!file) return tl::make_unexpected(file.error());
  const auto length = (*file)->Length();
  if (!length) return tl::make_unexpected(length.error());
  if (*length >= reference.end()) return {};
  return Fail(ErrorKind::kInvalid, "the reference ends behind its segment");
}

Status SegmentStore::Retain(const SegmentKey& key) {
  const std::string retained = RetainedName(key);
  reclaimer_.Cancel(retained);
  const auto exists = storage_.SameFile(retained, retained);
  if (!exists) return tl::make_unexpected(exists.error());
  if (*exists) return {};
  JOURNAL_TRY(storage_.Link(InPartition(PublicName(key.start_offset)), retained));
  links_dirty_ = true;
  return {};
}

Status SegmentStore::SyncFiles() {
  for (const SegmentKey& key : dirty_) JOURNAL_TRY(writers_.at(key)->Sync());
  dirty_.clear();
  return {};
}

Status SegmentStore::SyncNames() {
  if (!links_dirty_) return {};
  JOURNAL_TRY(storage_.SyncDirectory());
  JOURNAL_TRY(storage_.SyncPartition());
  links_dirty_ = false;
  return {};
}

Status SegmentStore::SyncAdopted(const std::set<SegmentKey>& keys) {
  if (keys.empty()) return {};
  for (const SegmentKey& key : keys) {
    const auto file = storage_.Open(RetainedName(key), OpenMode::kReadWrite);
    if (!file) return tl::make_unexpected(file.error());
    JOURNAL_TRY((*file)->Sync());
  }
  JOURNAL_TRY(storage_.SyncDirectory());
  return storage_.SyncPartition();
}

void SegmentStore::KeepOnly(const SegmentKey& key) {
  dirty_.clear();
  std::erase_if(writers_, [&key](const auto& entry) { return entry.first != key; });
}

// Renaming over the public name puts the retained inode there in one step, whatever was there.
// Renaming one of two names of the same inode onto the other does nothing, hence the unlink.
Status SegmentStore::RestorePublicName(const SegmentKey& key) {
  const std::string name = InPartition(PublicName(key.start_offset));
  const auto same = storage_.SameFile(RetainedName(key), name);
  if (!same) return tl::make_unexpected(same.error());
  if (*same) return {};
  const std::string temporary = name + std::string(kTemporarySuffix);
  const auto leftover = storage_.Unlink(temporary);
  if (!leftover && !IsMissing(leftover.error())) return leftover;
  JOURNAL_TRY(storage_.Link(RetainedName(key), temporary));
  JOURNAL_TRY(storage_.Rename(temporary, name));
  const auto rest = storage_.Unlink(temporary);
  if (!rest && !IsMissing(rest.error())) return rest;
  return storage_.SyncPartition();
}

Status SegmentStore::DeleteBehind(const SegmentCursor& tail) {
  const auto entries = storage_.ListPartition();
  if (!entries) return tl::make_unexpected(entries.error());
  bool removed = false;
  for (const DirectoryEntry& entry : *entries) {
    const auto start = ParsePublicName(entry.name);
    if (!start || *start <= tail.segment.start_offset || *start < tail.next_offset) continue;
    JOURNAL_TRY(storage_.Unlink(InPartition(entry.name)));
    removed = true;
  }
  return removed ? storage_.SyncPartition() : Status();
}

Status SegmentStore::Settle(const SegmentState& segments) {
  const SegmentCursor& tail = segments.tail;
  const auto retired = TailWasRetired(storage_, segments);
  if (!retired) return tl::make_unexpected(retired.error());
  if (*retired) return DeleteBehind(tail);
  writers_.erase(tail.segment);
  const auto file = storage_.Open(RetainedName(tail.segment), OpenMode::kReadWrite);
  if (!file && !(IsMissing(file.error()) && tail.length == 0)) {
    return tl::make_unexpected(file.error());
  }
  if (file) {
    const auto length = (*file)->Length();
    if (!length) return tl::make_unexpected(length.error());
    if (*length < tail.length) {
      return Fail(ErrorKind::kDamaged, RetainedName(tail.segment) + " is shorter than published");
    }
    if (*length > tail.length) {
      JOURNAL_TRY((*file)->Truncate(tail.length));
      if (options_.preallocate_segments) (*file)->Preallocate(segments.max_size);
      JOURNAL_TRY((*file)->Sync());
    }
    JOURNAL_TRY(RestorePublicName(tail.segment));
  }
  return DeleteBehind(tail);
}

Status SegmentStore::RewriteSegment(const SegmentKey& key, std::uint64_t bytes) {
  const auto file = storage_.Open(RetainedName(key), OpenMode::kReadWrite);
  if (!file) return tl::make_unexpected(file.error());
  return RewriteInPlace(**file, bytes);
}

}  // namespace tornfs::journal
