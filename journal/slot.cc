#include "journal/slot.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "common/bytes.h"
#include "common/check.h"
#include "common/hash.h"

namespace tornfs::journal {
namespace {

using Bytes = std::span<const std::byte>;

bool MagicIsAt(Bytes bytes, std::size_t at, const Magic& magic) {
  return std::memcmp(bytes.data() + at, magic.data(), magic.size()) == 0;
}

bool FlagsAreBits(Bytes bytes) {
  const Bytes flags =
      bytes.subspan(slot_at::kAnchorKnown, slot_at::kSegmentReferences + 1 - slot_at::kAnchorKnown);
  return std::all_of(flags.begin(), flags.end(), [](std::byte b) { return b <= std::byte{1}; });
}

// The segment state, if the flags and the bytes agree on one.
tl::expected<std::optional<SegmentState>, SlotFault> DecodeSegments(Bytes bytes) {
  const Bytes state = bytes.subspan(slot_at::kSegmentState, slot_at::kSegmentStateBytes);
  if (bytes[slot_at::kOwnedSegments] == std::byte{0}) {
    const bool zero =
        std::all_of(state.begin(), state.end(), [](std::byte b) { return b == std::byte{0}; });
    if (!zero) return tl::make_unexpected(SlotFault::kSegments);
    return std::nullopt;
  }
  const SegmentState decoded = DecodeSegmentState(state);
  if (bytes[slot_at::kSegmentReferences] == std::byte{0} || !IsValid(decoded)) {
    return tl::make_unexpected(SlotFault::kSegments);
  }
  return decoded;
}

bool BoundsHold(const State& state) {
  if (state.length > kPublishedBytesMax || state.length % kBlockBytes != 0) return false;
  if (state.head < state.checkpoint) return false;
  if (!state.anchor_known && state.head != state.checkpoint) return false;
  if (state.checkpoint_prepare) {
    return state.checkpoint != 0 && state.length != 0 && state.anchor_known;
  }
  return true;
}

}  // namespace

std::string_view SlotFaultText(SlotFault fault) {
  switch (fault) {
    case SlotFault::kUnreadable: return "cannot be read";
    case SlotFault::kUnknownFormat: return "unknown frontier format";
    case SlotFault::kChecksum: return "frontier checksum mismatch";
    case SlotFault::kSeal: return "format checksum mismatch";
    case SlotFault::kFlag: return "invalid flag";
    case SlotFault::kSegments: return "invalid segment state";
    case SlotFault::kBounds: return "invalid frontier bounds";
  }
  return "unknown fault";
}

void EncodeSlot(const Slot& slot, std::span<std::byte> out, const Magic& magic) {
  CHECK(out.size() == kBlockBytes);
  const State& state = slot.state;
  CHECK(BoundsHold(state));
  CHECK(!state.segments || (state.references && IsValid(*state.segments)));
  std::fill(out.begin(), out.end(), std::byte{0});
  std::memcpy(out.data() + slot_at::kMagic, magic.data(), magic.size());
  std::memcpy(out.data() + slot_at::kSeal, magic.data(), magic.size());
  StoreLe(out, slot_at::kGroup, state.group);
  StoreLe(out, slot_at::kIncarnation, state.incarnation);
  StoreLe(out, slot_at::kGeneration, state.generation);
  StoreLe(out, slot_at::kLength, state.length);
  StoreLe(out, slot_at::kCheckpoint, state.checkpoint);
  StoreLe(out, slot_at::kCheckpointChecksum, state.checkpoint_checksum);
  StoreLe(out, slot_at::kHead, state.head);
  StoreLe(out, slot_at::kHeadChecksum, state.head_checksum);
  StoreLe<std::uint8_t>(out, slot_at::kAnchorKnown, state.anchor_known ? 1 : 0);
  StoreLe<std::uint8_t>(out, slot_at::kCheckpointPrepare, state.checkpoint_prepare ? 1 : 0);
  StoreLe<std::uint8_t>(out, slot_at::kCertificatePresent, state.certified_log_view ? 1 : 0);
  StoreLe<std::uint8_t>(out, slot_at::kOwnedSegments, state.segments ? 1 : 0);
  StoreLe<std::uint8_t>(out, slot_at::kSegmentReferences, state.references ? 1 : 0);
  if (state.segments) {
    EncodeSegmentState(*state.segments,
                       out.subspan(slot_at::kSegmentState, slot_at::kSegmentStateBytes));
  }
  StoreLe(out, slot_at::kPurgeGeneration, state.purge_generation);
  StoreLe(out, slot_at::kPurgeFloor, state.purge_floor);
  StoreLe(out, slot_at::kCertifiedLogView, state.certified_log_view.value_or(0));
  StoreLe(out, slot_at::kSequence, slot.sequence);
  StoreLe(out, slot_at::kChecksum, Hash64(Bytes(out).subspan(slot_at::kChecked)));
}

tl::expected<Slot, SlotFault> DecodeSlot(Bytes bytes, const Magic& magic) {
  if (bytes.size() != kBlockBytes || !MagicIsAt(bytes, slot_at::kMagic, magic)) {
    return tl::make_unexpected(SlotFault::kUnknownFormat);
  }
  if (LoadLe<std::uint64_t>(bytes, slot_at::kChecksum) !=
      Hash64(bytes.subspan(slot_at::kChecked))) {
    return tl::make_unexpected(SlotFault::kChecksum);
  }
  if (!MagicIsAt(bytes, slot_at::kSeal, magic)) return tl::make_unexpected(SlotFault::kSeal);
  if (!FlagsAreBits(bytes)) return tl::make_unexpected(SlotFault::kFlag);
  const auto segments = DecodeSegments(bytes);
  if (!segments) return tl::make_unexpected(segments.error());

  const auto word = [bytes](std::size_t at) { return LoadLe<std::uint64_t>(bytes, at); };
  const auto flag = [bytes](std::size_t at) { return bytes[at] == std::byte{1}; };
  State state;
  state.group = word(slot_at::kGroup);
  state.incarnation = word(slot_at::kIncarnation);
  state.generation = word(slot_at::kGeneration);
  state.length = word(slot_at::kLength);
  state.checkpoint = word(slot_at::kCheckpoint);
  state.checkpoint_checksum = word(slot_at::kCheckpointChecksum);
  state.head = word(slot_at::kHead);
  state.head_checksum = word(slot_at::kHeadChecksum);
  state.anchor_known = flag(slot_at::kAnchorKnown);
  state.checkpoint_prepare = flag(slot_at::kCheckpointPrepare);
  state.purge_generation = word(slot_at::kPurgeGeneration);
  state.purge_floor = word(slot_at::kPurgeFloor);
  const auto view = LoadLe<std::uint32_t>(bytes, slot_at::kCertifiedLogView);
  const bool certified = flag(slot_at::kCertificatePresent);
  state.certified_log_view = certified ? std::optional(view) : std::nullopt;
  state.references = flag(slot_at::kSegmentReferences);
  state.segments = *segments;
  const bool halves_are_zero =
      word(slot_at::kCheckpointChecksum + 8) == 0 && word(slot_at::kHeadChecksum + 8) == 0;
  const auto sequence = word(slot_at::kSequence);
  if (!BoundsHold(state) || !halves_are_zero || (!certified && view != 0) || sequence == 0) {
    return tl::make_unexpected(SlotFault::kBounds);
  }
  return Slot{state, sequence};
}

}  // namespace tornfs::journal
