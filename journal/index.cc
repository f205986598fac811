#include "journal/index.h"

#include "common/bytes.h"

namespace tornfs::journal {
namespace {

constexpr std::size_t kTimestampAt = 8;
constexpr std::size_t kPositionAt = 16;

}  // namespace

std::vector<std::byte> EncodeIndex(std::span<const IndexEntry> entries) {
  std::vector<std::byte> bytes(entries.size() * kIndexEntryBytes);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto out = std::span(bytes).subspan(i * kIndexEntryBytes, kIndexEntryBytes);
    StoreLe(out, 0, entries[i].offset);
    StoreLe(out, kTimestampAt, entries[i].timestamp);
    StoreLe(out, kPositionAt, entries[i].position);
  }
  return bytes;
}

std::vector<IndexEntry> DecodeIndex(std::span<const std::byte> bytes) {
  std::vector<IndexEntry> entries;
  for (std::size_t at = 0; at + kIndexEntryBytes <= bytes.size(); at += kIndexEntryBytes) {
    const auto entry = bytes.subspan(at, kIndexEntryBytes);
    entries.push_back({LoadLe<std::uint64_t>(entry, 0), LoadLe<std::uint64_t>(entry, kTimestampAt),
                       LoadLe<std::uint64_t>(entry, kPositionAt)});
  }
  return entries;
}

std::string_view IndexContradiction(std::span<const IndexEntry> entries,
                                    std::uint64_t start_offset) {
  if (entries.empty()) return "";
  if (entries[0].offset != start_offset || entries[0].position != 0) {
    return "its first entry is not the start of the segment";
  }
  for (std::size_t i = 1; i < entries.size(); ++i) {
    if (entries[i].offset <= entries[i - 1].offset) return "its offsets do not rise";
    if (entries[i].position <= entries[i - 1].position) return "its positions do not rise";
  }
  return "";
}

Result<IndexWriter> IndexWriter::Open(File& file, std::uint64_t bytes) {
  const auto length = file.Length();
  if (!length) return tl::make_unexpected(length.error());
  if (*length != bytes || bytes % kIndexEntryBytes != 0) {
    return Fail(ErrorKind::kDamaged, "the index has " + std::to_string(*length) +
                                         " bytes instead of " + std::to_string(bytes));
  }
  return IndexWriter(file, bytes);
}

Status IndexWriter::Save() {
  if (pending_.empty()) return {};
  const auto bytes = EncodeIndex(pending_);
  JOURNAL_TRY(file_->WriteAt(cursor_, bytes));
  cursor_ += bytes.size();
  pending_.clear();
  unsynced_ = true;
  return {};
}

Status IndexWriter::Barrier() {
  JOURNAL_TRY(Save());
  if (!unsynced_) return {};
  JOURNAL_TRY(file_->Sync());
  unsynced_ = false;
  return {};
}

}  // namespace tornfs::journal
