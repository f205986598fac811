#include "journal/promises.h"

#include <gtest/gtest.h>

#include "fixture.h"
#include "journal/verify.h"

namespace tornfs::journal {
namespace {

TEST(Promises, AckAndDurableLinesCount) {
  const auto promises = ParsePromises("ack 1 00000000000000ab\ndurable 2 ffffffffffffffff\n");
  ASSERT_EQ(promises.size(), 2U);
  EXPECT_EQ(promises[0].op, 1U);
  EXPECT_EQ(promises[0].checksum, 0xabU);
  EXPECT_EQ(promises[1].kind, PromiseKind::kDurable);
  EXPECT_EQ(promises[1].checksum, UINT64_MAX);
}

TEST(Promises, EverythingElseIsIgnored) {
  for (const char* text :
       {"", "\n", "ack\n", "ack 1\n", "ack 1 ab\n", "ack x 00000000000000ab\n",
        "ack 1 00000000000000AB\n", "ack 1 00000000000000ab x\n", " ack 1 00000000000000ab\n",
        "head 1 00000000000000ab\n", "ack -1 00000000000000ab\n", "ack  1 00000000000000ab\n",
        "ack 18446744073709551616 00000000000000ab\n", "ack 1 00000000000000ab"}) {
    EXPECT_TRUE(ParsePromises(text).empty()) << text;
  }
}

TEST(Promises, TruncatingWithdraws) {
  const auto promises = ParsePromises(
      "ack 1 0000000000000001\nack 2 0000000000000002\ntruncating 2\nack 2 0000000000000003\n");
  ASSERT_EQ(promises.size(), 2U);
  EXPECT_EQ(promises[1].checksum, 3U);
}

class Verify : public testing::Test {
 protected:
  // The finding for one promise, or "".
  std::string Finding(MemoryDisk& disk, std::uint64_t op, std::uint64_t checksum) {
    const auto storage = disk.Attach();
    const auto snapshot = LoadSnapshot(*storage, {});
    EXPECT_TRUE(snapshot);
    const Promise promise{PromiseKind::kAcknowledged, op, checksum};
    return FindBrokenPromise(*snapshot, std::span(&promise, 1)).value_or("");
  }
};

TEST_F(Verify, KeptMissingAndChanged) {
  MemoryDisk disk = DiskWith(3);
  const std::uint64_t head = SlotAt(disk, NewestPosition(disk))->state.head_checksum;
  EXPECT_EQ(Finding(disk, 3, head), "");
  EXPECT_EQ(Finding(disk, 4, 0xab),
            "op 4 was acknowledged with 00000000000000ab and is missing (head is 3)");
  EXPECT_NE(Finding(disk, 3, head + 1).find("and is now"), std::string::npos);
}

TEST_F(Verify, CheckpointedOpsCountAsTrue) {
  MemoryDisk disk = DiskWith(3);
  EXPECT_TRUE(OpenJournal(disk)->Checkpoint(2));
  EXPECT_EQ(Finding(disk, 1, 0xab), "");
  EXPECT_EQ(Finding(disk, 2, 0xab), "");
  EXPECT_NE(Finding(disk, 3, 0xab), "");
}

TEST_F(Verify, NoJournalKeepsNoPromise) {
  MemoryDisk disk;
  EXPECT_EQ(Finding(disk, 1, 0xab),
            "op 1 was acknowledged with 00000000000000ab and is missing (there is no journal)");
  EXPECT_EQ(Refusal(disk), "");
  EXPECT_TRUE(disk.Contents().empty());
}

}  // namespace
}  // namespace tornfs::journal
