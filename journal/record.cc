#include "journal/record.h"

#include <algorithm>

#include "common/bytes.h"
#include "common/check.h"
#include "common/hash.h"
#include "journal/batch.h"

namespace tornfs::journal {
namespace {

// Larger reads save few calls and cost a short-lived process a page fault per page.
constexpr std::uint64_t kReadAheadBytes = 1ULL << 16;

// Writes the envelope around a payload that is in place, and the padding.
void Seal(std::uint64_t generation, std::uint32_t kind, std::size_t payload_bytes,
          std::span<std::byte> out) {
  const auto envelope = out.first(record_at::kPayload);
  std::fill(envelope.begin(), envelope.end(), std::byte{0});
  StoreLe(out, record_at::kPayloadLength, static_cast<std::uint32_t>(payload_bytes));
  StoreLe(out, record_at::kKind, kind);
  StoreLe(out, record_at::kGeneration, generation);
  const std::size_t end = record_at::kPayload + payload_bytes;
  std::fill(out.begin() + static_cast<std::ptrdiff_t>(end), out.end(), std::byte{0});
  StoreLe(out, record_at::kChecksum, Hash64(std::span<const std::byte>(out.first(end))));
}

}  // namespace

std::uint64_t RetainedBytes(const Entry& entry) {
  return RecordLength(entry.payload_bytes).value();
}

Result<Entry> DescribePrepare(std::span<const std::byte> prepare, bool check) {
  if (prepare.size() < kPrepareBytesMin || prepare.size() > kPrepareBytesMax) {
    return Fail(ErrorKind::kInvalid, "prepare size is out of bounds");
  }
  const PrepareHeader header = ReadPrepareHeader(prepare);
  Entry entry;
  entry.checksum = header.checksum;
  entry.payload_bytes = static_cast<std::uint32_t>(prepare.size());
  if (check) {
    const auto decoded = DecodePrepare(prepare);
    if (!decoded) return tl::make_unexpected(decoded.error());
  }
  if (header.operation != kOperationMessages) return entry;
  const auto batch = DecodeBatch(prepare.subspan(prepare_at::kBody));
  if (batch) {
    entry.base_offset = batch->base_offset;
    entry.next_offset = batch->next_offset();
  } else if (check) {
    return tl::make_unexpected(batch.error());
  }
  return entry;
}

void EncodeRecord(std::uint64_t generation, std::span<const std::byte> payload,
                  std::span<std::byte> out) {
  CHECK(RecordLength(payload.size()) == out.size());
  std::copy(payload.begin(), payload.end(), out.begin() + record_at::kPayload);
  Seal(generation, kRecordKindInline, payload.size(), out);
}

void EncodeReferenceRecord(std::uint64_t generation, std::span<const std::byte> header,
                           const SegmentReference& reference, std::span<std::byte> out) {
  CHECK(header.size() == prepare_at::kBody && out.size() == kBlockBytes);
  std::copy(header.begin(), header.end(), out.begin() + record_at::kPayload);
  EncodeReference(reference, out.subspan(record_at::kPayload + header.size(), kReferenceBytes));
  Seal(generation, kRecordKindReference, kReferencePayloadBytes, out);
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
  const auto kind = LoadLe<std::uint32_t>(bytes, record_at::kKind);
  std::span<const std::byte> prepare = bytes.subspan(record_at::kPayload, payload_bytes);
  std::optional<SegmentReference> reference;
  if (kind == kRecordKindReference) {
    const auto assembled = Assemble(prepare);
    if (!assembled) return tl::make_unexpected(assembled.error());
    reference = *assembled;
    prepare = assembled_;
  } else if (kind != kRecordKindInline) {
    return Refuse(ErrorKind::kUnsupported, "has an unknown kind");
  }
  auto entry = DescribePrepare(prepare, true);
  if (!entry) return Refuse(ErrorKind::kDamaged, "is invalid: " + entry.error().context);
  entry->position = position_;
  entry->length = *length;
  entry->reference = reference;
  position_ += *length;
  return Record{*entry, ReadPrepareHeader(prepare), prepare};
}

// Puts a header and the body it refers to together, in assembled_.
Result<SegmentReference> RecordReader::Assemble(std::span<const std::byte> payload) {
  if (segments_ == nullptr) return Refuse(ErrorKind::kDamaged, "refers to a segment");
  if (payload.size() != kReferencePayloadBytes) {
    return Refuse(ErrorKind::kDamaged, "is a reference of impossible length");
  }
  const SegmentReference reference = DecodeReference(payload.subspan(prepare_at::kBody));
  if (!IsValid(reference, ReadPrepareHeader(payload))) {
    return Refuse(ErrorKind::kDamaged, "has an invalid reference");
  }
  assembled_.resize(prepare_at::kBody + reference.length);
  std::copy_n(payload.begin(), prepare_at::kBody, assembled_.begin());
  const auto body = segments_->Read(reference, std::span(assembled_).subspan(prepare_at::kBody));
  if (body) return reference;
  if (body.error().kind != ErrorKind::kDamaged) return tl::make_unexpected(body.error());
  return Refuse(ErrorKind::kDamaged, "has lost its body: " + body.error().context);
}

}  // namespace tornfs::journal
