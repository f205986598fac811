// The segments that a journal writes or keeps alive: their open writers, their two names and the
// barriers they need.
//
// Barriers: a segment is synced through the handle that wrote it, so all writers stay open until
// the next publication. A new link makes both folders dirty.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "journal/reclaimer.h"
#include "journal/recovery.h"
#include "journal/segment.h"
#include "journal/storage.h"

namespace tornfs::journal {

// A body and the place reserved for it.
struct BodyWrite {
  SegmentReference place;
  std::span<const std::byte> body;
};

// Not thread safe.
class SegmentStore {
 public:
  // All three must outlive the store.
  SegmentStore(Storage& storage, const Options& options, Reclaimer& reclaimer)
      : storage_(storage), options_(options), reclaimer_(reclaimer) {}

  // Writes bodies in order, creating segments as needed. Bodies that follow each other in one
  // segment go out in one call, kVectorPartsMax at most. `segment_bytes` is what a new segment may
  // reserve.
  [[nodiscard]] Status Write(std::span<const BodyWrite> writes, std::uint64_t segment_bytes);

  // Gives segments that the caller wrote their retained names.
  // Errors: kInvalid when there is no such segment or it ends before the reference does.
  [[nodiscard]] Status CheckReference(const SegmentReference& reference);
  [[nodiscard]] Status Retain(const SegmentKey& key);

  [[nodiscard]] bool files_dirty() const { return !dirty_.empty(); }
  [[nodiscard]] bool links_dirty() const { return links_dirty_; }
  [[nodiscard]] Status SyncFiles();
  // Both folders, if links are dirty.
  [[nodiscard]] Status SyncNames();
  // Syncs segments that an earlier process wrote, and both folders.
  [[nodiscard]] Status SyncAdopted(const std::set<SegmentKey>& keys);

  // After a publication: closes every writer but that of `key`.
  void KeepOnly(const SegmentKey& key);

  // Makes the files agree with the cursor: cuts what lies behind it, gives the last segment its
  // public name again, deletes public segments that start behind it.
  // Errors: kIo; kDamaged when the segment is shorter than the cursor says.
  [[nodiscard]] Status Settle(const SegmentState& segments);

  // Writes `bytes` of the segment once more and syncs it: after a failed barrier what a read
  // returns need not be on the disk.
  [[nodiscard]] Status RewriteSegment(const SegmentKey& key, std::uint64_t bytes);

 private:
  [[nodiscard]] Result<File*> Writer(const SegmentReference& place, std::uint64_t segment_bytes);
  [[nodiscard]] Status RemoveStalePublic(const SegmentKey& key);
  [[nodiscard]] Status RestorePublicName(const SegmentKey& key);
  [[nodiscard]] Status DeleteBehind(const SegmentCursor& tail);

  Storage& storage_;
  const Options& options_;
  Reclaimer& reclaimer_;
  std::map<SegmentKey, std::unique_ptr<File>> writers_;
  std::set<SegmentKey> dirty_;
  bool links_dirty_ = false;
};

// Writes the first `bytes` bytes of a file over themselves and syncs it.
[[nodiscard]] Status RewriteInPlace(File& file, std::uint64_t bytes);

}  // namespace tornfs::journal
