// The byte formats, against vectors computed by an independent writer of the same layout.
#include "journal/format.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "common/bytes.h"
#include "common/hash.h"
#include "fixture.h"
#include "journal/slot.h"

namespace tornfs::journal {
namespace {

constexpr Magic kForeignOne{'I', 'G', 'G', 'Y', 'W', 'A', 'L', '1'};
constexpr Magic kForeignThree{'I', 'G', 'G', 'Y', 'W', 'A', 'L', '3'};

using Block = std::array<std::byte, kBlockBytes>;

Block Encode(const Slot& slot, const Magic& magic = kMagic) {
  Block block;
  EncodeSlot(slot, block, magic);
  return block;
}

std::uint64_t SlotChecksum(const Magic& magic, std::uint64_t sequence) {
  State state;
  state.group = 42;
  state.incarnation = 7;
  const Block block = Encode({state, sequence}, magic);
  return LoadLe<std::uint64_t>(block, slot_at::kChecksum);
}

Prepare VectorPrepare(std::uint64_t op, std::uint64_t parent) {
  PrepareHeader fields;
  fields.group = 42;
  fields.operation = 160;
  fields.op = op;
  fields.parent = parent;
  const std::vector<std::byte> body(16, static_cast<std::byte>(op));
  return BuildPrepare(fields, body);
}

State FullState() {
  State state;
  state.group = 3;
  state.incarnation = 4;
  state.generation = 5;
  state.length = 3 * kBlockBytes;
  state.checkpoint = 6;
  state.checkpoint_checksum = 7;
  state.head = 8;
  state.head_checksum = 9;
  state.anchor_known = true;
  state.checkpoint_prepare = true;
  state.certified_log_view = 10;
  state.purge_generation = 11;
  state.purge_floor = 12;
  return state;
}

// Re-seals a block after a change.
void Reseal(Block& block) {
  StoreLe(std::span<std::byte>(block), slot_at::kChecksum,
          Hash64(std::span<const std::byte>(block).subspan(slot_at::kChecked)));
}

TEST(SlotFormat, MatchesGoldenChecksums) {
  EXPECT_EQ(SlotChecksum(kForeignOne, 1), 0x3950ad8b6f0567d6U);
  EXPECT_EQ(SlotChecksum(kForeignOne, 2), 0x2b30ac1e6c9bce02U);
  EXPECT_EQ(SlotChecksum(kForeignThree, 1), 0x2028b942d436d0b6U);
  EXPECT_EQ(SlotChecksum(kForeignThree, 2), 0x7b66d075127ddd34U);
}

TEST(SlotFormat, ForeignMagicsAreRefused) {
  for (const Magic& magic : {kForeignOne, kForeignThree}) {
    EXPECT_EQ(DecodeSlot(Encode({State(), 1}, magic)).error(), SlotFault::kUnknownFormat);
  }
}

TEST(SlotFormat, EveryFieldSurvives) {
  const auto slot = DecodeSlot(Encode({FullState(), 77}));
  ASSERT_TRUE(slot);
  EXPECT_EQ(slot->state, FullState());
  EXPECT_EQ(slot->sequence, 77U);
}

TEST(SlotFormat, EverythingMeaningfulLiesInTheFirstSector) {
  const Block block = Encode({FullState(), UINT64_MAX});
  EXPECT_TRUE(std::all_of(block.begin() + slot_at::kEnd, block.end(),
                          [](std::byte b) { return b == std::byte{0}; }));
}

TEST(SlotFormat, EveryFlippedBitIsNoticed) {
  const Block good = Encode({FullState(), 77});
  for (std::size_t bit = 0; bit < kBlockBytes * 8; ++bit) {
    Block bad = good;
    bad[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    ASSERT_FALSE(DecodeSlot(bad)) << "bit " << bit;
  }
}

TEST(SlotFormat, ATearGivesTheOldTheNewOrNothing) {
  State newer = FullState();
  newer.head = 9;
  newer.length += kBlockBytes;
  // Sequence 254 to 256 carries into the second byte of the field.
  const Block old_block = Encode({FullState(), 254});
  const Block new_block = Encode({newer, 256});
  for (std::size_t cut = 1; cut < slot_at::kEnd; ++cut) {
    Block torn = old_block;
    std::copy_n(new_block.begin(), cut, torn.begin());
    const auto slot = DecodeSlot(torn);
    if (slot) {
      EXPECT_TRUE(slot->sequence == 254 || slot->sequence == 256) << cut;
    }
    if (cut >= 9 && cut <= 217) {
      EXPECT_FALSE(slot) << cut;
    }
  }
}

TEST(SlotFormat, ATearOfAMagicChangeIsNoticed) {
  const Block old_block = Encode({FullState(), 2}, kForeignThree);
  const Block new_block = Encode({FullState(), 4});
  for (std::size_t cut = 1; cut <= 216; ++cut) {
    Block torn = old_block;
    std::copy_n(new_block.begin(), cut, torn.begin());
    EXPECT_FALSE(DecodeSlot(torn)) << cut;
  }
}

TEST(SlotFormat, TheSealGuardsTheMagic) {
  Block block = Encode({State(), 1});
  std::fill_n(block.begin() + slot_at::kSeal, 8, std::byte{0});
  Reseal(block);
  EXPECT_EQ(DecodeSlot(block).error(), SlotFault::kSeal);
}

TEST(SlotFormat, FlagsAreZeroOrOne) {
  for (std::size_t at = slot_at::kAnchorKnown; at <= slot_at::kSegmentReferences; ++at) {
    Block block = Encode({State(), 1});
    block[at] = std::byte{2};
    Reseal(block);
    EXPECT_EQ(DecodeSlot(block).error(), SlotFault::kFlag) << at;
  }
}

TEST(SlotFormat, SegmentStateNeedsItsFlags) {
  // A flag without a state, a state without its flag.
  for (const std::size_t at : {slot_at::kOwnedSegments, slot_at::kSegmentState}) {
    Block block = Encode({State(), 1});
    block[at] = std::byte{1};
    Reseal(block);
    EXPECT_EQ(DecodeSlot(block).error(), SlotFault::kSegments) << at;
  }
  State state;
  state.references = true;
  EXPECT_EQ(DecodeSlot(Encode({state, 1}))->state, state);
  const SegmentCursor checkpoint{{3, 70}, 0, 70};
  state.segments = SegmentState{4096, 6, {{5, 100}, 300, 101}, checkpoint};
  Block block = Encode({state, 1});
  EXPECT_EQ(DecodeSlot(block)->state, state);
  block[slot_at::kSegmentReferences] = std::byte{0};
  Reseal(block);
  EXPECT_EQ(DecodeSlot(block).error(), SlotFault::kSegments);
}

TEST(SlotFormat, ContradictionsAreRefused) {
  const auto fault = [](std::size_t at, std::uint64_t value) {
    Block block = Encode({FullState(), 1});
    StoreLe(std::span<std::byte>(block), at, value);
    Reseal(block);
    const auto slot = DecodeSlot(block);
    return !slot && slot.error() == SlotFault::kBounds;
  };
  EXPECT_TRUE(fault(slot_at::kLength, 4095));
  EXPECT_TRUE(fault(slot_at::kLength, kPublishedBytesMax + kBlockBytes));
  EXPECT_TRUE(fault(slot_at::kLength, 0));      // checkpoint_prepare without a record
  EXPECT_TRUE(fault(slot_at::kCheckpoint, 0));  // checkpoint_prepare without a checkpoint
  EXPECT_TRUE(fault(slot_at::kHead, 5));
  EXPECT_TRUE(fault(slot_at::kSequence, 0));
  EXPECT_TRUE(fault(slot_at::kHeadChecksum + 8, 1));
  EXPECT_FALSE(fault(slot_at::kHead, 8));
}

TEST(PrepareFormat, MatchesGoldenChecksums) {
  const Prepare first = VectorPrepare(1, 0);
  EXPECT_EQ(ChecksumOf(first), 0xd78604cd5588c4f1U);
  EXPECT_EQ(ChecksumOf(VectorPrepare(2, ChecksumOf(first))), 0xc34c94f3849d568fU);
}

TEST(PrepareFormat, AResendInALaterViewKeepsItsIdentity) {
  EXPECT_EQ(ChecksumOf(MakePrepare(1, 0, "body", 0)), ChecksumOf(MakePrepare(1, 0, "body", 9)));
}

TEST(PrepareFormat, EveryChangedByteButTheViewIsNoticed) {
  const Prepare good = MakePrepare(1, 2, "body");
  ASSERT_TRUE(DecodePrepare(good));
  for (std::size_t at = 0; at < good.size(); ++at) {
    Prepare bad = good;
    bad[at] ^= std::byte{1};
    const bool view = at >= prepare_at::kView && at < prepare_at::kView + 4;
    EXPECT_EQ(DecodePrepare(bad).has_value(), view) << at;
  }
}

TEST(RecordFormat, BeginsAsTheGoldenRecord) {
  const Prepare prepare = VectorPrepare(1, 0);
  std::vector<std::byte> record(RecordLength(prepare.size()).value());
  EncodeRecord(0, prepare, record);
  const auto word = [&record](std::size_t at) { return LoadLe<std::uint64_t>(record, at); };
  EXPECT_EQ(word(0), 0x110U);
  EXPECT_EQ(word(8), 0U);
  EXPECT_EQ(word(16), 0xf7c285f931663672U);  // Bytes 72 36 66 31 f9 85 c2 f7.
  EXPECT_EQ(word(24), 0U);
}

TEST(RecordFormat, LengthsAreWholeBlocks) {
  EXPECT_EQ(RecordLength(255), std::nullopt);
  EXPECT_EQ(RecordLength(256), 4096U);
  EXPECT_EQ(RecordLength(4064), 4096U);
  EXPECT_EQ(RecordLength(4065), 8192U);
  EXPECT_EQ(RecordLength(4096), 8192U);
  EXPECT_EQ(RecordLength(12544), 16384U);
  EXPECT_EQ(RecordLength(64ULL << 20), 67'112'960U);
  EXPECT_EQ(RecordLength((64ULL << 20) + 1), std::nullopt);
}

TEST(FileNames, OnlyTheWrittenFormCounts) {
  EXPECT_EQ(DataFileName(18446744073709551615U), "prepares-18446744073709551615.wal");
  EXPECT_EQ(ParseDataFileName("prepares-0.wal"), 0U);
  EXPECT_EQ(ParseDataFileName("prepares-18446744073709551615.wal"), UINT64_MAX);
  for (const char* name :
       {"prepares-007.wal", "prepares-.wal", "prepares-+1.wal", "prepares-1.wal.", "prepares-1",
        "prepares-18446744073709551616.wal", "prepares-1 .wal", "5.log"}) {
    EXPECT_EQ(ParseDataFileName(name), std::nullopt) << name;
  }
}

}  // namespace
}  // namespace tornfs::journal
