// The byte format of a journal directory: every size, offset and limit, and nothing else. The prose
// is docs/journal-format.md; encoder, decoder, verifier and tests all use these constants.
//
//   frontier               two 4096-byte slots, exactly 8192 bytes, overwritten in place
//   frontier.tmp           scratch while `frontier` is being created
//   prepares-<n>.wal       the records of generation n, each at a multiple of 4096
//   segment-<g>-<s>.log    hard link that keeps the segment of generation g and start offset s
//   lock                   empty; whoever writes holds an exclusive flock(2) on it
//   suspect                empty; a barrier failed, and what the page cache holds is in doubt
//
// The parent folder, called the partition, holds the segments under public names of 20 digits:
//
//   <start offset>.log     message bodies
//   <start offset>.index   their index, which the journal only deletes together with the log
//
// All integers are little-endian. A 16-byte checksum field holds a 64-bit XXH3 in its low half and
// zero in its high half.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tornfs::journal {

inline constexpr std::size_t kBlockBytes = 4096;
inline constexpr std::size_t kSlotCount = 2;
inline constexpr std::size_t kFrontierBytes = kSlotCount * kBlockBytes;

// No data file ever publishes more than this, whatever the capacity.
inline constexpr std::uint64_t kPublishedBytesMax = 4ULL << 30;

inline constexpr std::size_t kPrepareBytesMin = 256;  // The header alone: an empty body.
inline constexpr std::size_t kPrepareBytesMax = 64ULL << 20;

// Capacity bounds what may be admitted, never what may be recovered.
inline constexpr std::uint64_t kCapacityMin = 2 * (kPrepareBytesMax + kBlockBytes);
inline constexpr std::uint64_t kCapacityDefault = 256ULL << 20;
inline constexpr std::uint64_t kCapacityMax = kPublishedBytesMax;

// The first eight bytes of a slot. Other journals share the layout and differ here.
using Magic = std::array<char, 8>;
inline constexpr Magic kMagic{'T', 'O', 'R', 'N', 'W', 'A', 'L', '1'};

// Frontier slot. The slot of publication q lies at byte (q mod 2) * 4096.
//
//   offset  size  field
//        0     8  magic                   outside the checksummed range
//        8     8  checksum                XXH3 of bytes [16, 4096)
//       16     8  group
//       24     8  incarnation
//       32     8  generation              names the data file
//       40     8  length                  published bytes, a multiple of 4096
//       48     8  checkpoint              newest op that lives elsewhere
//       56    16  checkpoint checksum
//       72     8  head                    newest published op
//       80    16  head checksum
//       96     1  anchor known            0 or 1
//       97     1  checkpoint prepare      0 or 1: record 0 is the checkpoint op itself
//       98     1  certificate present     0 or 1
//       99     1  owned segments          0 or 1: is there a segment state
//      100     1  segment references      0 or 1: may records refer to segments
//      101     3  reserved                written zero
//      104     8  purge generation
//      112     8  purge floor
//      120     4  certified log view      0 when absent
//      124     4  reserved                written zero
//      128    80  segment state           segment.h; zero unless byte 99 is 1
//      208     8  sealed magic            the magic again, inside the checksummed range
//      216     8  publication sequence
//      224  3872  reserved                written zero
namespace slot_at {
inline constexpr std::size_t kMagic = 0;
inline constexpr std::size_t kChecksum = 8;
inline constexpr std::size_t kChecked = 16;
inline constexpr std::size_t kGroup = 16;
inline constexpr std::size_t kIncarnation = 24;
inline constexpr std::size_t kGeneration = 32;
inline constexpr std::size_t kLength = 40;
inline constexpr std::size_t kCheckpoint = 48;
inline constexpr std::size_t kCheckpointChecksum = 56;
inline constexpr std::size_t kHead = 72;
inline constexpr std::size_t kHeadChecksum = 80;
inline constexpr std::size_t kAnchorKnown = 96;
inline constexpr std::size_t kCheckpointPrepare = 97;
inline constexpr std::size_t kCertificatePresent = 98;
inline constexpr std::size_t kOwnedSegments = 99;
inline constexpr std::size_t kSegmentReferences = 100;
inline constexpr std::size_t kPurgeGeneration = 104;
inline constexpr std::size_t kPurgeFloor = 112;
inline constexpr std::size_t kCertifiedLogView = 120;
inline constexpr std::size_t kSegmentState = 128;
inline constexpr std::size_t kSegmentStateBytes = 80;
inline constexpr std::size_t kSeal = 208;
inline constexpr std::size_t kSequence = 216;
inline constexpr std::size_t kEnd = 224;  // Everything that means something lies below.
}  // namespace slot_at
static_assert(slot_at::kSegmentState + slot_at::kSegmentStateBytes == slot_at::kSeal);
static_assert(slot_at::kSequence + sizeof(std::uint64_t) == slot_at::kEnd);
static_assert(slot_at::kEnd <= 512, "a tear between sectors must never cut a slot's content");

// Record envelope.
//
//   offset  size  field
//        0     4  payload length n        256 .. 64 MiB
//        4     4  kind                    0 = a whole prepare; 1 = a header and where the body is
//        8     8  generation
//       16     8  checksum                XXH3 of bytes [0, 32 + n), this field taken as zero
//       24     8  reserved                written zero
//       32     n  payload
//   32 + n   pad  zero up to a multiple of 4096, outside the checksum
namespace record_at {
inline constexpr std::size_t kPayloadLength = 0;
inline constexpr std::size_t kKind = 4;
inline constexpr std::size_t kGeneration = 8;
inline constexpr std::size_t kChecksum = 16;
inline constexpr std::size_t kPayload = 32;
}  // namespace record_at
inline constexpr std::uint32_t kRecordKindInline = 0;
inline constexpr std::uint32_t kRecordKindReference = 1;
static_assert(record_at::kPayload + kPrepareBytesMin <= kBlockBytes, "a header fits one block");

// Prepare header, 256 bytes, followed by the body.
//
//   offset  size  field
//        0    16  identity checksum       XXH3 of the header, this field and view taken as zero
//       16    16  body checksum           XXH3 of the body; 0 = the body guards itself
//       32    16  cluster
//       48     4  size                    header and body
//       52     4  view                    outside the identity: a resend keeps its checksum
//       56     4  release
//       60     1  command                 6 = prepare
//       61     1  replica
//       62    66  reserved                must be zero
//      128    16  client
//      144    16  parent                  identity checksum of the previous op
//      160    16  request checksum
//      176     8  op
//      184     8  commit
//      192     8  timestamp
//      200     8  request
//      208     1  operation
//      209     7  padding                 must be zero
//      216     8  group
//      224     4  user
//      228    28  reserved                must be zero
namespace prepare_at {
inline constexpr std::size_t kChecksum = 0;
inline constexpr std::size_t kBodyChecksum = 16;
inline constexpr std::size_t kCluster = 32;
inline constexpr std::size_t kSize = 48;
inline constexpr std::size_t kView = 52;
inline constexpr std::size_t kRelease = 56;
inline constexpr std::size_t kCommand = 60;
inline constexpr std::size_t kReservedA = 62;
inline constexpr std::size_t kClient = 128;
inline constexpr std::size_t kParent = 144;
inline constexpr std::size_t kOp = 176;
inline constexpr std::size_t kOperation = 208;
inline constexpr std::size_t kPadding = 209;
inline constexpr std::size_t kGroup = 216;
inline constexpr std::size_t kUser = 224;
inline constexpr std::size_t kReservedB = 228;
inline constexpr std::size_t kBody = 256;
}  // namespace prepare_at
static_assert(prepare_at::kBody == kPrepareBytesMin);
inline constexpr std::uint8_t kCommandPrepare = 6;
// The operation of records that came from a stream of lines: a body without inner structure.
inline constexpr std::uint8_t kOperationAppend = 1;
// A batch of messages (batch.h): the one operation whose body may lie in a segment.
inline constexpr std::uint8_t kOperationMessages = 160;

inline constexpr std::string_view kFrontierName = "frontier";
inline constexpr std::string_view kFrontierTemporaryName = "frontier.tmp";
inline constexpr std::string_view kLockName = "lock";
inline constexpr std::string_view kSuspectName = "suspect";
// What leads from the journal's folder to its partition; see storage.h.
inline constexpr std::string_view kPartitionPrefix = "../";

// "prepares-<generation>.wal".
[[nodiscard]] std::string DataFileName(std::uint64_t generation);

// The generation a name stands for; nothing unless it is exactly what DataFileName() writes, so
// "prepares-007.wal" is a stranger.
[[nodiscard]] std::optional<std::uint64_t> ParseDataFileName(std::string_view name);

// Bytes a record with a payload of `payload_bytes` takes, padding included; nothing when no record
// may have such a payload.
[[nodiscard]] constexpr std::optional<std::uint64_t> RecordLength(std::uint64_t payload_bytes) {
  if (payload_bytes < kPrepareBytesMin || payload_bytes > kPrepareBytesMax) return std::nullopt;
  return (record_at::kPayload + payload_bytes + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
}

}  // namespace tornfs::journal
