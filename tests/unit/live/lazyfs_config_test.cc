// Configuration files of LazyFS.
#include <gtest/gtest.h>

#include "harness/lazyfs/config.h"

namespace tornfs::harness::lazyfs {
namespace {

TEST(LazyFsConfig, ReadsAWholeFile) {
  const Config config = ParseConfig(R"(
[faults]
fifo_path="/run/faults.fifo"
fifo_path_completed="/run/done.fifo"

[cache]
apply_eviction=false

[cache.simple]
custom_size="0.5GB"
blocks_per_page=1

[filesystem]
log_all_operations=true
logfile="/run/lazyfs.log"

[[injection]]
type="torn-seq"
op="write"
file="output.txt"
persist=[1,4]
occurrence=2

[[injection]]
type="torn-op"
file="output1.txt"
occurrence=5
parts=3
persist=[1,3]

[[injection]]
type="torn-op"
file="output2.txt"
occurrence=2
parts_bytes=[4096,3600,1260]
persist=[1,3]

[[injection]]
type="clear-cache"
timing="before"
op="rename"
from="a"
to="b"
occurrence=6
crash=true
)")
                            .value();
  EXPECT_EQ(config.fifo, "/run/faults.fifo");
  EXPECT_EQ(config.completed, "/run/done.fifo");
  EXPECT_EQ(config.logfile, "/run/lazyfs.log");
  EXPECT_TRUE(config.log_all_operations);
  ASSERT_EQ(config.faults.size(), 4U);
  EXPECT_EQ(std::get<TornSeq>(config.faults[0]).occurrence, 2U);
  EXPECT_EQ(std::get<TornOp>(config.faults[1]).parts, 3U);
  EXPECT_EQ(std::get<TornOp>(config.faults[2]).bytes,
            (std::vector<std::uint64_t>{4096, 3600, 1260}));
  EXPECT_TRUE(std::get<ClearFault>(config.faults[3]).crash);
}

TEST(LazyFsConfig, ReadsTheOldNameOfTheSection) {
  EXPECT_EQ(ParseConfig("[file system]\nlogfile=\"x\"\n")->logfile, "x");
  EXPECT_EQ(ParseConfig("")->fifo, "faults.fifo");
}

TEST(LazyFsConfig, RefusesWhatMakesNoSense) {
  for (const char* text :
       {"[faults", "[faults]\nfifo_path=3\n", "injection=1\n", "injection=[1]\n",
        "[[injection]]\ntype=\"what\"\n", "[[injection]]\ntype=\"torn-op\"\nfile=\"a\"\n",
        "[[injection]]\ntype=\"torn-op\"\nfile=\"a\"\nparts=-1\npersist=[1]\n",
        "[[injection]]\ntype=\"torn-op\"\nfile=\"a\"\nparts=2\npersist=[\"1\"]\n",
        "[[injection]]\ntype=\"clear-cache\"\nfrom=\"a\"\nop=\"write\"\n",
        "[[injection]]\ntype=\"torn-seq\"\nfile=\"a\"\npersist=[]\n"}) {
    EXPECT_EQ(ParseConfig(text).error().code, ErrorCode::kInvalid) << text;
  }
}

}  // namespace
}  // namespace tornfs::harness::lazyfs
