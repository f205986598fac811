#include "journal/batch.h"

#include <algorithm>
#include <array>

#include "common/bytes.h"
#include "common/hash.h"

namespace tornfs::journal {
namespace {

constexpr std::size_t kPartition = 0;
constexpr std::size_t kBaseOffset = 8;
constexpr std::size_t kBaseTimestamp = 16;
constexpr std::size_t kOriginTimestamp = 24;
constexpr std::size_t kLength = 32;
constexpr std::size_t kChecksum = 40;
constexpr std::size_t kMessageCount = 48;
constexpr std::size_t kReserved = 52;

// Of the header with its own field taken as zero, then of the messages: no copy of the body.
std::uint64_t Checksum(std::span<const std::byte> body) {
  std::array<std::byte, kBatchHeaderBytes + sizeof(std::uint64_t)> head{};
  std::copy_n(body.begin(), kBatchHeaderBytes, head.begin());
  StoreLe<std::uint64_t>(head, kChecksum, 0);
  StoreLe(std::span<std::byte>(head), kBatchHeaderBytes, Hash64(body.subspan(kBatchHeaderBytes)));
  return Hash64(std::span<const std::byte>(head));
}

}  // namespace

std::vector<std::byte> BuildBatch(const BatchHeader& header, std::span<const std::byte> messages) {
  std::vector<std::byte> out(kBatchHeaderBytes + messages.size());
  std::copy(messages.begin(), messages.end(), out.begin() + kBatchHeaderBytes);
  StoreLe(std::span(out), kPartition, header.partition);
  StoreLe(std::span(out), kBaseOffset, header.base_offset);
  StoreLe(std::span(out), kBaseTimestamp, header.base_timestamp);
  StoreLe(std::span(out), kOriginTimestamp, header.origin_timestamp);
  StoreLe<std::uint64_t>(std::span(out), kLength, out.size());
  StoreLe(std::span(out), kMessageCount, header.message_count);
  StoreLe(std::span(out), kChecksum, Checksum(out));
  return out;
}

Result<BatchHeader> DecodeBatch(std::span<const std::byte> body) {
  if (body.size() < kBatchHeaderBytes || LoadLe<std::uint64_t>(body, kLength) != body.size()) {
    return Fail(ErrorKind::kInvalid, "batch length disagrees with the body");
  }
  BatchHeader header;
  header.partition = LoadLe<std::uint64_t>(body, kPartition);
  header.base_offset = LoadLe<std::uint64_t>(body, kBaseOffset);
  header.base_timestamp = LoadLe<std::uint64_t>(body, kBaseTimestamp);
  header.origin_timestamp = LoadLe<std::uint64_t>(body, kOriginTimestamp);
  header.message_count = LoadLe<std::uint32_t>(body, kMessageCount);
  const auto reserved = body.subspan(kReserved, kBatchHeaderBytes - kReserved);
  const auto is_zero = [](std::byte b) { return b == std::byte{0}; };
  if (!std::all_of(reserved.begin(), reserved.end(), is_zero)) {
    return Fail(ErrorKind::kInvalid, "reserved bytes of the batch header are set");
  }
  if (header.message_count == 0 || header.base_offset > UINT64_MAX - header.message_count) {
    return Fail(ErrorKind::kInvalid, "impossible number of messages in the batch");
  }
  if (LoadLe<std::uint64_t>(body, kChecksum) != Checksum(body)) {
    return Fail(ErrorKind::kInvalid, "batch checksum does not match");
  }
  return header;
}

}  // namespace tornfs::journal
