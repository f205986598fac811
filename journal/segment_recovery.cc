#include "journal/segment_recovery.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "common/bytes.h"
#include "journal/batch.h"

namespace tornfs::journal {
namespace {

constexpr std::size_t kLengthAt = 32;
constexpr std::size_t kEntriesSearched = 4096;
constexpr std::uint64_t kBatchBytesMax = kPrepareBytesMax - kPrepareBytesMin;
constexpr std::string_view kStagingSuffix = ".staging";

struct FoundBatch {
  BatchHeader header;
  std::uint64_t bytes = 0;
};

tl::unexpected<Error> Refuse(SegmentRefusal refusal, const std::string& why) {
  return Fail(ErrorKind::kDamaged, std::string(SegmentRefusalName(refusal)) + ": " + why);
}

class Recoverer {
 public:
  Recoverer(Storage& storage, std::uint64_t start_offset)
      : storage_(storage), start_offset_(start_offset) {}

  Result<SegmentReport> Run();

 private:
  [[nodiscard]] Status Load();
  // The batch at `position`, if a sound one lies there.
  [[nodiscard]] Result<std::optional<FoundBatch>> BatchAt(std::uint64_t position);
  [[nodiscard]] Status CheckIndexedBatches();
  [[nodiscard]] Status Walk();
  [[nodiscard]] Status ClassifyResidue();
  [[nodiscard]] bool IndexFits() const;
  [[nodiscard]] Status ReplaceIndex();

  Storage& storage_;
  std::uint64_t start_offset_;
  std::unique_ptr<File> log_;
  std::uint64_t log_bytes_ = 0;
  std::vector<IndexEntry> index_;
  bool index_whole_ = true;         // No rest of an entry behind the last one.
  std::vector<IndexEntry> walked_;  // One entry for each sound batch.
  SegmentReport report_;
};

Status Recoverer::Load() {
  auto log = storage_.Open(InPartition(PublicName(start_offset_)), OpenMode::kReadWrite);
  if (!log) return tl::make_unexpected(log.error());
  log_ = std::move(*log);
  const auto length = log_->Length();
  if (!length) return tl::make_unexpected(length.error());
  log_bytes_ = *length;
  const auto index = storage_.Open(InPartition(IndexName(start_offset_)), OpenMode::kRead);
  if (!index) return IsMissing(index.error()) ? Status() : tl::make_unexpected(index.error());
  const auto index_bytes = (*index)->Length();
  if (!index_bytes) return tl::make_unexpected(index_bytes.error());
  std::vector<std::byte> bytes(*index_bytes);
  const auto got = (*index)->ReadAt(0, bytes);
  if (!got) return tl::make_unexpected(got.error());
  index_ = DecodeIndex(std::span(bytes).first(*got));
  index_whole_ = *got % kIndexEntryBytes == 0;
  return {};
}

Result<std::optional<FoundBatch>> Recoverer::BatchAt(std::uint64_t position) {
  if (position > log_bytes_ || log_bytes_ - position < kBatchHeaderBytes) return std::nullopt;
  std::vector<std::byte> body(kBatchHeaderBytes);
  auto got = log_->ReadAt(position, body);
  if (!got) return tl::make_unexpected(got.error());
  const auto bytes = LoadLe<std::uint64_t>(std::span<const std::byte>(body), kLengthAt);
  if (bytes < kBatchHeaderBytes || bytes > kBatchBytesMax || bytes > log_bytes_ - position) {
    return std::nullopt;
  }
  body.resize(bytes);
  got = log_->ReadAt(position, body);
  if (!got) return tl::make_unexpected(got.error());
  const auto header = DecodeBatch(body);
  if (!header) return std::nullopt;
  return FoundBatch{*header, bytes};
}

Status Recoverer::CheckIndexedBatches() {
  const std::size_t least = index_.size() - std::min(index_.size(), kEntriesSearched);
  for (std::size_t i = index_.size(); i > least; --i) {
    const auto batch = BatchAt(index_[i - 1].position);
    if (!batch) return tl::make_unexpected(batch.error());
    if (!*batch || (*batch)->header.base_offset != index_[i - 1].offset) continue;
    const std::size_t unproven = index_.size() - i;
    if (unproven <= 1) return {};
    return Refuse(SegmentRefusal::kFsyncedLogLoss,
                  std::to_string(unproven) + " entries of the index have no batch");
  }
  // The one chunk that is in flight may be the first.
  if (index_.size() <= 1) return {};
  return Refuse(SegmentRefusal::kFsyncedLogLoss, "no entry of the index has a batch");
}

Status Recoverer::Walk() {
  report_.next_offset = start_offset_;
  while (report_.bytes < log_bytes_) {
    const auto batch = BatchAt(report_.bytes);
    if (!batch) return tl::make_unexpected(batch.error());
    if (!*batch) return ClassifyResidue();
    const BatchHeader& header = (*batch)->header;
    if (header.base_offset != report_.next_offset) {
      return Refuse(SegmentRefusal::kOffsetGap,
                    "the batch at byte " + std::to_string(report_.bytes) + " starts at offset " +
                        std::to_string(header.base_offset) + " and not at " +
                        std::to_string(report_.next_offset));
    }
    walked_.push_back({header.base_offset, header.base_timestamp, report_.bytes});
    report_.bytes += (*batch)->bytes;
    report_.next_offset = header.next_offset();
  }
  return {};
}

// What follows the last sound batch is a torn write only if nothing sound follows in turn.
Status Recoverer::ClassifyResidue() {
  const std::uint64_t begin = report_.bytes;
  if (log_bytes_ - begin > kBatchBytesMax) {
    return Refuse(SegmentRefusal::kUnknownResidue,
                  std::to_string(log_bytes_ - begin) + " bytes that are no batch");
  }
  for (std::uint64_t at = begin + 1; at < log_bytes_; ++at) {
    const auto batch = BatchAt(at);
    if (!batch) return tl::make_unexpected(batch.error());
    if (*batch) {
      return Refuse(SegmentRefusal::kInteriorDamage, "a sound batch at byte " + std::to_string(at) +
                                                         " follows damage at byte " +
                                                         std::to_string(begin));
    }
  }
  return {};
}

// An index may be sparse; each of its entries must be the start of a batch.
bool Recoverer::IndexFits() const {
  if (!index_whole_ || index_.empty() != walked_.empty()) return false;
  return std::all_of(index_.begin(), index_.end(), [this](const IndexEntry& entry) {
    const auto at = std::lower_bound(
        walked_.begin(), walked_.end(), entry,
        [](const IndexEntry& a, const IndexEntry& b) { return a.position < b.position; });
    return at != walked_.end() && at->position == entry.position && at->offset == entry.offset;
  });
}

Status Recoverer::ReplaceIndex() {
  const std::string name = InPartition(IndexName(start_offset_));
  const std::string staging = name + std::string(kStagingSuffix);
  const auto file = storage_.Open(staging, OpenMode::kCreate);
  if (!file) return tl::make_unexpected(file.error());
  JOURNAL_TRY((*file)->WriteAt(0, EncodeIndex(walked_)));
  JOURNAL_TRY((*file)->Sync());
  JOURNAL_TRY(storage_.Rename(staging, name));
  return storage_.SyncPartition();
}

Result<SegmentReport> Recoverer::Run() {
  JOURNAL_TRY(Load());
  const bool contradicts = !IndexContradiction(index_, start_offset_).empty();
  if (!contradicts) JOURNAL_TRY(CheckIndexedBatches());
  JOURNAL_TRY(Walk());
  const bool proves = !contradicts && !index_.empty();
  if (proves && report_.bytes < index_.back().position) {
    return Refuse(SegmentRefusal::kFsyncedRebuildShortfall,
                  "the log is sound up to byte " + std::to_string(report_.bytes) +
                      ", the index ends at byte " + std::to_string(index_.back().position));
  }
  // Everything is known; only now is anything written.
  report_.log_cut = report_.bytes < log_bytes_;
  report_.index_rebuilt = contradicts || !IndexFits();
  if (report_.log_cut) {
    JOURNAL_TRY(log_->Truncate(report_.bytes));
    JOURNAL_TRY(log_->Sync());
  }
  if (report_.index_rebuilt) JOURNAL_TRY(ReplaceIndex());
  return report_;
}

}  // namespace

std::string_view SegmentRefusalName(SegmentRefusal refusal) {
  switch (refusal) {
    case SegmentRefusal::kFsyncedLogLoss: return "FsyncedLogLoss";
    case SegmentRefusal::kFsyncedRebuildShortfall: return "FsyncedRebuildShortfall";
    case SegmentRefusal::kInteriorDamage: return "InteriorDamage";
    case SegmentRefusal::kOffsetGap: return "OffsetGap";
    case SegmentRefusal::kUnknownResidue: return "UnknownResidue";
  }
  return "unknown";
}

Result<SegmentReport> RecoverSegment(Storage& storage, std::uint64_t start_offset) {
  return Recoverer(storage, start_offset).Run();
}

}  // namespace tornfs::journal
