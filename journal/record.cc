#include "journal/record.h"

#include <algorithm>

#include "common/bytes.h"
#include "common/check.h"
#include "common/hash.h"

namespace tornfs::journal {
namespace {

// Larger reads save few calls and cost a short-lived process a page fault per page.
constexpr std::uint64_t kReadAheadBytes = 1ULL << 16;

}  // namespace

void EncodeRecord(std::uint64_t generation, std::span<const std::byte> payload,
                  std::span<std::byte> out) {
  CHECK(RecordLength(payload.size()) == out.size());
  const auto envelope = out.first(record_at::kPayload);
  std::fill(envelope.begin(), envelope.end(), std::byte{0});
  StoreLe(out, record_at::kPayloadLength, static_cast<std::uint32_t>(payload.size()));
  StoreLe(out, record_at::kKind, kRecordKindInline);
  StoreLe(out, record_at::kGeneration, generation);
  std::copy(payload.begin(), payload.end(), out.begin() + record_at::kPayload);
  const std::size_t end = record_at::kPayload + payload.size();
  std::fill(out.begin() + static_cast<std::ptrdiff_t>(end), out.end(), std::byte{0});
  StoreLe(out, record_at::kChecksum, Hash64(std::span<const std::byte>(out.first(end))));
}

tl::unexpected<Error> RecordReader::Refuse(ErrorKind kind, const std::string& what) const {
  return Fail(kind, DataFileName(generation_) + ": record at byte " + std::to_string(position_) +
                        " " + what);
}

// Makes the window start at the position and hold at least `bytes`.
Status RecordReader::Fill(std::uint64_t bytes) {
  CHECK(position_ + bytes <= limit_);
  if (position_ >= window_begin_ && position_ + bytes <= window_begin_ + window_.size()) return {};
  window_.resize(std::min(std::max(bytes, kReadAheadBytes), limit_ - position_));
  window_begin_ = position_;
  const auto got = file_.ReadAt(position_, window_);
  if (!got) {
    window_.clear();
    return tl::make_unexpected(got.error());
  }
  window_.resize(*got);
  if (*got < bytes) return Refuse(ErrorKind::kDamaged, "is cut short");
  return {};
}

Result<Record> RecordReader::Next() {
  CHECK(!AtEnd());
  if (limit_ - position_ < kBlockBytes) {
    return Refuse(ErrorKind::kDamaged, "is not a whole block");
  }
  JOURNAL_TRY(Fill(kBlockBytes));
  auto bytes = std::span(window_).subspan(position_ - window_begin_);
  const auto payload_bytes = LoadLe<std::uint32_t>(bytes, record_at::kPayloadLength);
  const auto length = RecordLength(payload_bytes);
  if (!length) {
    return Refuse(ErrorKind::kDamaged,
                  "has an impossible length of " + std::to_string(payload_bytes));
  }
  if (*length > limit_ - position_) return Refuse(ErrorKind::kDamaged, "crosses its limit");
  JOURNAL_TRY(Fill(*length));
  bytes = std::span(window_).subspan(position_ - window_begin_, *length);
  const auto stored = LoadLe<std::uint64_t>(bytes, record_at::kChecksum);
  StoreLe<std::uint64_t>(bytes, record_at::kChecksum, 0);
  const auto actual =
      Hash64(std::span<const std::byte>(bytes.first(record_at::kPayload + payload_bytes)));
  StoreLe(bytes, record_at::kChecksum, stored);
  if (stored != actual) return Refuse(ErrorKind::kDamaged, "has a checksum mismatch");
  const auto generation = LoadLe<std::uint64_t>(bytes, record_at::kGeneration);
  if (generation != generation_) {
    return Refuse(ErrorKind::kDamaged, "belongs to generation " + std::to_string(generation));
  }
  if (LoadLe<std::uint32_t>(bytes, record_at::kKind) != kRecordKindInline) {
    return Refuse(ErrorKind::kUnsupported, "has an unknown kind");
  }
  const auto prepare = bytes.subspan(record_at::kPayload, payload_bytes);
  const auto header = DecodePrepare(prepare);
  if (!header) return Refuse(ErrorKind::kDamaged, "is invalid: " + header.error().context);
  const Record record{{position_, *length, header->checksum, payload_bytes}, *header, prepare};
  position_ += *length;
  return record;
}

}  // namespace tornfs::journal
