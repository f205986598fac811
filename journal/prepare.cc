#include "journal/prepare.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "common/bytes.h"
#include "common/check.h"
#include "common/hash.h"

namespace tornfs::journal {
namespace {

std::uint64_t Identity(std::span<const std::byte> header) {
  std::array<std::byte, prepare_at::kBody> copy;
  std::copy_n(header.begin(), copy.size(), copy.begin());
  StoreLe<std::uint64_t>(copy, prepare_at::kChecksum, 0);
  StoreLe<std::uint64_t>(copy, prepare_at::kChecksum + 8, 0);
  StoreLe<std::uint32_t>(copy, prepare_at::kView, 0);
  return Hash64(copy);
}

bool AllZero(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

bool HighHalvesAreZero(std::span<const std::byte> header) {
  return LoadLe<std::uint64_t>(header, prepare_at::kChecksum + 8) == 0 &&
         LoadLe<std::uint64_t>(header, prepare_at::kBodyChecksum + 8) == 0 &&
         LoadLe<std::uint64_t>(header, prepare_at::kParent + 8) == 0;
}

bool ReservedIsZero(std::span<const std::byte> header) {
  return AllZero(header.subspan(prepare_at::kReservedA,
                                prepare_at::kClient - prepare_at::kReservedA)) &&
         AllZero(header.subspan(prepare_at::kPadding, prepare_at::kGroup - prepare_at::kPadding)) &&
         AllZero(
             header.subspan(prepare_at::kReservedB, prepare_at::kBody - prepare_at::kReservedB));
}

}  // namespace

std::vector<std::byte> BuildPrepare(const PrepareHeader& fields, std::span<const std::byte> body) {
  CHECK(body.size() <= kPrepareBytesMax - kPrepareBytesMin);
  std::vector<std::byte> out(prepare_at::kBody + body.size());
  std::copy(body.begin(), body.end(), out.begin() + prepare_at::kBody);
  StoreLe(std::span(out), prepare_at::kBodyChecksum, Hash64(body));
  StoreLe(std::span(out), prepare_at::kCluster, fields.cluster);
  StoreLe(std::span(out), prepare_at::kSize, static_cast<std::uint32_t>(out.size()));
  StoreLe(std::span(out), prepare_at::kView, fields.view);
  StoreLe(std::span(out), prepare_at::kCommand, kCommandPrepare);
  StoreLe(std::span(out), prepare_at::kParent, fields.parent);
  StoreLe(std::span(out), prepare_at::kOp, fields.op);
  StoreLe(std::span(out), prepare_at::kOperation, fields.operation);
  StoreLe(std::span(out), prepare_at::kGroup, fields.group);
  StoreLe(std::span(out), prepare_at::kChecksum, Identity(out));
  return out;
}

PrepareHeader ReadPrepareHeader(std::span<const std::byte> prepare) {
  PrepareHeader header;
  header.checksum = LoadLe<std::uint64_t>(prepare, prepare_at::kChecksum);
  header.body_checksum = LoadLe<std::uint64_t>(prepare, prepare_at::kBodyChecksum);
  header.cluster = LoadLe<std::uint64_t>(prepare, prepare_at::kCluster);
  header.size = LoadLe<std::uint32_t>(prepare, prepare_at::kSize);
  header.view = LoadLe<std::uint32_t>(prepare, prepare_at::kView);
  header.parent = LoadLe<std::uint64_t>(prepare, prepare_at::kParent);
  header.op = LoadLe<std::uint64_t>(prepare, prepare_at::kOp);
  header.operation = LoadLe<std::uint8_t>(prepare, prepare_at::kOperation);
  header.group = LoadLe<std::uint64_t>(prepare, prepare_at::kGroup);
  return header;
}

Result<PrepareHeader> DecodePrepare(std::span<const std::byte> prepare) {
  if (prepare.size() < kPrepareBytesMin || prepare.size() > kPrepareBytesMax) {
    return Fail(ErrorKind::kInvalid, "prepare size is out of bounds");
  }
  if (LoadLe<std::uint8_t>(prepare, prepare_at::kCommand) != kCommandPrepare) {
    return Fail(ErrorKind::kInvalid, "not a prepare");
  }
  if (!ReservedIsZero(prepare) || !HighHalvesAreZero(prepare)) {
    return Fail(ErrorKind::kInvalid, "reserved bytes of the prepare header are set");
  }
  const PrepareHeader header = ReadPrepareHeader(prepare);
  if (header.size != prepare.size()) {
    return Fail(ErrorKind::kInvalid, "prepare size field disagrees with its length");
  }
  if (header.checksum == 0 || header.checksum != Identity(prepare)) {
    return Fail(ErrorKind::kInvalid, "identity checksum of the prepare does not match");
  }
  if (header.body_checksum != 0 &&
      header.body_checksum != Hash64(prepare.subspan(prepare_at::kBody))) {
    return Fail(ErrorKind::kInvalid, "body checksum of the prepare does not match");
  }
  return header;
}

}  // namespace tornfs::journal
