// Segments: files of message bodies beside the journal, and how slots and records name places in
// them.
//
// A segment is known by its generation, a number never used twice, and by the offset of its first
// message. Its inode has two names: the public one in the partition, which the owner of the
// messages may delete, and a hard link in the journal's folder, which keeps the bytes for as long
// as a record or a cursor needs them.
//
// Reference, the 32 bytes behind the header in a record of kind 1, four integers of 8 bytes:
//   generation, start offset, position, length
// Segment state, the 80 bytes at offset 128 of a slot, ten integers of 8 bytes:
//   max size, next generation,
//   tail {generation, start offset, length, next offset}, checkpoint {the same four}
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "journal/prepare.h"

namespace tornfs::journal {

inline constexpr std::size_t kReferenceBytes = 32;
inline constexpr std::size_t kReferencePayloadBytes = prepare_at::kBody + kReferenceBytes;
inline constexpr std::uint64_t kSegmentBytesMax = 1ULL << 30;
// A body in a segment starts with a batch header.
inline constexpr std::size_t kReferencedPrepareBytesMin = 512;

struct SegmentKey {
  std::uint64_t generation = 0;
  std::uint64_t start_offset = 0;  // Of the first message.

  friend auto operator<=>(const SegmentKey&, const SegmentKey&) = default;
};

struct SegmentReference {
  SegmentKey segment;
  std::uint64_t position = 0;  // Byte in the segment.
  std::uint64_t length = 0;    // Bytes of the body.

  [[nodiscard]] std::uint64_t end() const { return position + length; }
  friend bool operator==(const SegmentReference&, const SegmentReference&) = default;
};

// A place between two messages.
struct SegmentCursor {
  SegmentKey segment;
  std::uint64_t length = 0;       // Bytes of the segment up to here.
  std::uint64_t next_offset = 0;  // Of the message that comes here.

  friend bool operator==(const SegmentCursor&, const SegmentCursor&) = default;
};

// Present when the journal writes the segments itself ("owned").
struct SegmentState {
  std::uint64_t max_size = 0;         // A body is put into a new segment once this is reached.
  std::uint64_t next_generation = 0;  // Above every segment's.
  SegmentCursor tail;                 // Where the next body goes.
  SegmentCursor checkpoint;           // Behind the last body the checkpoint covers.

  friend bool operator==(const SegmentState&, const SegmentState&) = default;
};

// Could a journal have written this state?
[[nodiscard]] bool IsValid(const SegmentState& state);

// May `reference` hold the body of `header`?
[[nodiscard]] bool IsValid(const SegmentReference& reference, const PrepareHeader& header);

// Requires: the sizes above.
void EncodeReference(const SegmentReference& reference, std::span<std::byte> out);
[[nodiscard]] SegmentReference DecodeReference(std::span<const std::byte> bytes);
void EncodeSegmentState(const SegmentState& state, std::span<std::byte> out);
[[nodiscard]] SegmentState DecodeSegmentState(std::span<const std::byte> bytes);

// Takes the place of a body of `length` bytes with messages from `base_offset` up to but not
// including `next_offset`, and moves the tail behind it.
// Errors: kInvalid when the messages do not follow the tail; kCapacity when a number is used up.
[[nodiscard]] Result<SegmentReference> Reserve(SegmentState& state, std::uint64_t base_offset,
                                               std::uint64_t next_offset, std::uint64_t length);

// "segment-<generation>-<start offset>.log", in the journal's folder.
[[nodiscard]] std::string RetainedName(const SegmentKey& key);
// The key of exactly such a name.
[[nodiscard]] std::optional<SegmentKey> ParseRetainedName(std::string_view name);

// "<start offset, 20 digits>.log" and ".index", in the partition; without the prefix.
[[nodiscard]] std::string PublicName(std::uint64_t start_offset);
[[nodiscard]] std::string IndexName(std::uint64_t start_offset);
// The start offset of exactly such a name, of either kind.
[[nodiscard]] std::optional<std::uint64_t> ParsePublicName(std::string_view name);

// `name` in the partition as Storage takes it.
[[nodiscard]] std::string InPartition(std::string_view name);

}  // namespace tornfs::journal
