// One frontier slot: the whole durable state of a journal besides its records, in one block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <tl/expected.hpp>

#include "journal/format.h"
#include "journal/segment.h"

namespace tornfs::journal {

// What a publication makes durable. The default value is a fresh journal, except for the identity.
struct State {
  std::uint64_t group = 0;
  std::uint64_t incarnation = 0;
  std::uint64_t generation = 0;
  std::uint64_t length = 0;      // Published bytes of the data file.
  std::uint64_t checkpoint = 0;  // Op up to which the history lives elsewhere.
  std::uint64_t checkpoint_checksum = 0;
  std::uint64_t head = 0;
  std::uint64_t head_checksum = 0;
  bool anchor_known = false;        // Is `checkpoint_checksum` meaningful?
  bool checkpoint_prepare = false;  // Is record 0 the checkpoint op itself?
  std::optional<std::uint32_t> certified_log_view = 0;
  std::uint64_t purge_generation = 0;
  std::uint64_t purge_floor = 0;
  bool references = false;               // May records refer to segments?
  std::optional<SegmentState> segments;  // Present: the journal writes segments; needs references.

  friend bool operator==(const State&, const State&) = default;
};

struct Slot {
  State state;
  std::uint64_t sequence = 0;  // Of the publication, from 1.
};

// Why bytes are not a verified slot, in the order of the checks.
enum class SlotFault : std::uint8_t {
  kUnreadable,     // The storage could not deliver the bytes.
  kUnknownFormat,  // Not 4096 bytes, or another magic.
  kChecksum,
  kSeal,      // The magic was changed after the slot was sealed.
  kFlag,      // A flag byte is neither 0 nor 1.
  kSegments,  // The segment state contradicts itself or the flags.
  kBounds,    // The numbers contradict each other.
};

[[nodiscard]] std::string_view SlotFaultText(SlotFault fault);

// Requires: out.size() == kBlockBytes. Other protocols share the layout and differ in the magic.
void EncodeSlot(const Slot& slot, std::span<std::byte> out, const Magic& magic = kMagic);

// Pure; any bytes are safe.
[[nodiscard]] tl::expected<Slot, SlotFault> DecodeSlot(std::span<const std::byte> bytes,
                                                       const Magic& magic = kMagic);

}  // namespace tornfs::journal
