#include "journal/segment.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "common/bytes.h"
#include "common/check.h"

namespace tornfs::journal {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);
constexpr std::size_t kCursorBytes = 4 * kWord;
constexpr std::size_t kOffsetDigits = 20;

bool IsValid(const SegmentCursor& cursor, std::uint64_t next_generation) {
  if (cursor.segment.generation >= next_generation) return false;
  if (cursor.next_offset < cursor.segment.start_offset) return false;
  return (cursor.length == 0) == (cursor.next_offset == cursor.segment.start_offset);
}

void EncodeCursor(const SegmentCursor& cursor, std::span<std::byte> out) {
  StoreLe(out, 0, cursor.segment.generation);
  StoreLe(out, kWord, cursor.segment.start_offset);
  StoreLe(out, 2 * kWord, cursor.length);
  StoreLe(out, 3 * kWord, cursor.next_offset);
}

SegmentCursor DecodeCursor(std::span<const std::byte> bytes) {
  SegmentCursor cursor;
  cursor.segment.generation = LoadLe<std::uint64_t>(bytes, 0);
  cursor.segment.start_offset = LoadLe<std::uint64_t>(bytes, kWord);
  cursor.length = LoadLe<std::uint64_t>(bytes, 2 * kWord);
  cursor.next_offset = LoadLe<std::uint64_t>(bytes, 3 * kWord);
  return cursor;
}

std::optional<std::uint64_t> TakeNumber(std::string_view& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

std::string PaddedName(std::uint64_t start_offset, std::string_view suffix) {
  const std::string digits = std::to_string(start_offset);
  std::string name(kOffsetDigits - digits.size(), '0');
  name += digits;
  name += suffix;
  return name;
}

}  // namespace

bool IsValid(const SegmentState& state) {
  return state.max_size >= 1 && state.max_size <= kSegmentBytesMax &&
         IsValid(state.tail, state.next_generation) &&
         IsValid(state.checkpoint, state.next_generation) &&
         state.tail.next_offset >= state.checkpoint.next_offset;
}

bool IsValid(const SegmentReference& reference, const PrepareHeader& header) {
  return header.operation == kOperationMessages && header.size >= kReferencedPrepareBytesMin &&
         header.size <= kPrepareBytesMax && reference.length == header.size - prepare_at::kBody &&
         reference.position <= UINT64_MAX - reference.length;
}

void EncodeReference(const SegmentReference& reference, std::span<std::byte> out) {
  CHECK(out.size() == kReferenceBytes);
  StoreLe(out, 0, reference.segment.generation);
  StoreLe(out, kWord, reference.segment.start_offset);
  StoreLe(out, 2 * kWord, reference.position);
  StoreLe(out, 3 * kWord, reference.length);
}

SegmentReference DecodeReference(std::span<const std::byte> bytes) {
  CHECK(bytes.size() == kReferenceBytes);
  SegmentReference reference;
  reference.segment.generation = LoadLe<std::uint64_t>(bytes, 0);
  reference.segment.start_offset = LoadLe<std::uint64_t>(bytes, kWord);
  reference.position = LoadLe<std::uint64_t>(bytes, 2 * kWord);
  reference.length = LoadLe<std::uint64_t>(bytes, 3 * kWord);
  return reference;
}

void EncodeSegmentState(const SegmentState& state, std::span<std::byte> out) {
  CHECK(out.size() == slot_at::kSegmentStateBytes);
  StoreLe(out, 0, state.max_size);
  StoreLe(out, kWord, state.next_generation);
  EncodeCursor(state.tail, out.subspan(2 * kWord, kCursorBytes));
  EncodeCursor(state.checkpoint, out.subspan(2 * kWord + kCursorBytes, kCursorBytes));
}

SegmentState DecodeSegmentState(std::span<const std::byte> bytes) {
  CHECK(bytes.size() == slot_at::kSegmentStateBytes);
  SegmentState state;
  state.max_size = LoadLe<std::uint64_t>(bytes, 0);
  state.next_generation = LoadLe<std::uint64_t>(bytes, kWord);
  state.tail = DecodeCursor(bytes.subspan(2 * kWord, kCursorBytes));
  state.checkpoint = DecodeCursor(bytes.subspan(2 * kWord + kCursorBytes, kCursorBytes));
  return state;
}

Result<SegmentReference> Reserve(SegmentState& state, std::uint64_t base_offset,
                                 std::uint64_t next_offset, std::uint64_t length) {
  SegmentCursor& tail = state.tail;
  if (base_offset != tail.next_offset) {
    return Fail(ErrorKind::kInvalid, "messages start at offset " + std::to_string(base_offset) +
                                         " and not at " + std::to_string(tail.next_offset));
  }
  if (tail.length >= state.max_size) {
    if (state.next_generation == UINT64_MAX) {
      return Fail(ErrorKind::kCapacity, "segment generations are used up");
    }
    tail = {{state.next_generation, base_offset}, 0, base_offset};
    ++state.next_generation;
  }
  const SegmentReference reference{tail.segment, tail.length, length};
  tail.length += length;
  tail.next_offset = next_offset;
  return reference;
}

std::string RetainedName(const SegmentKey& key) {
  return "segment-" + std::to_string(key.generation) + "-" + std::to_string(key.start_offset) +
         ".log";
}

std::optional<SegmentKey> ParseRetainedName(std::string_view name) {
  constexpr std::string_view kPrefix = "segment-";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  std::string_view rest = name.substr(kPrefix.size());
  const auto generation = TakeNumber(rest);
  if (!generation || !rest.starts_with('-')) return std::nullopt;
  rest.remove_prefix(1);
  const auto start_offset = TakeNumber(rest);
  if (!start_offset) return std::nullopt;
  const SegmentKey key{*generation, *start_offset};
  if (RetainedName(key) != name) return std::nullopt;
  return key;
}

std::string PublicName(std::uint64_t start_offset) { return PaddedName(start_offset, ".log"); }

std::string IndexName(std::uint64_t start_offset) { return PaddedName(start_offset, ".index"); }

std::optional<std::uint64_t> ParsePublicName(std::string_view name) {
  std::string_view rest = name;
  const auto start_offset = TakeNumber(rest);
  if (!start_offset || (PublicName(*start_offset) != name && IndexName(*start_offset) != name)) {
    return std::nullopt;
  }
  return start_offset;
}

std::string InPartition(std::string_view name) {
  std::string path(kPartitionPrefix);
  path += name;
  return path;
}

}  // namespace tornfs::journal
