// Commands of the LazyFS FIFO.
#include <gtest/gtest.h>

#include "harness/lazyfs/fault.h"
#include "harness/lazyfs/paths.h"

namespace tornfs::harness::lazyfs {
namespace {

TEST(LazyFsCommand, Orders) {
  EXPECT_EQ(std::get<Order>(ParseCommand("lazyfs::clear-cache").value()), Order::kClearCache);
  EXPECT_EQ(std::get<Order>(ParseCommand("lazyfs::cache-checkpoint").value()), Order::kCheckpoint);
  EXPECT_EQ(std::get<Order>(ParseCommand("lazyfs::display-cache-usage").value()), Order::kUsage);
  EXPECT_EQ(std::get<Order>(ParseCommand("lazyfs::unsynced-data-report").value()), Order::kReport);
  EXPECT_EQ(std::get<Order>(ParseCommand("lazyfs::help").value()), Order::kHelp);
  EXPECT_EQ(ParseCommand("lazyfs::what").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(ParseCommand("").error().code, ErrorCode::kNotFound);
}

TEST(LazyFsCommand, Crash) {
  const auto command =
      ParseCommand("lazyfs::crash::timing=after::op=rename::from_rgx=old::to_rgx=new[0-9]").value();
  const CrashFault& fault = std::get<CrashFault>(command);
  EXPECT_FALSE(fault.before);
  EXPECT_EQ(fault.op, "rename");
  EXPECT_TRUE(std::regex_search(std::string("/root/new7"), *fault.to_regex));
  EXPECT_FALSE(ParseCommand("lazyfs::crash::timing=during::op=write::from_rgx=a"));
  EXPECT_FALSE(ParseCommand("lazyfs::crash::timing=before::op=mkdir::from_rgx=a"));
  EXPECT_FALSE(ParseCommand("lazyfs::crash::timing=before::op=write::from_rgx=a::to_rgx=b"));
  EXPECT_FALSE(ParseCommand("lazyfs::crash::timing=before::op=write"));
  EXPECT_FALSE(ParseCommand("lazyfs::crash::timing=before::op=write::from_rgx=(("));
}

TEST(LazyFsCommand, NumbersInARegularExpressionAreSmall) {
  const std::string crash = "lazyfs::crash::timing=before::op=write::from_rgx=";
  for (const char* good : {"a{2}", "a{2,3}", "a{2,}", "(a)\\1", "a12345678901", "a,12345678901"}) {
    EXPECT_TRUE(ParseCommand(crash + good)) << good;
  }
  for (const char* bad : {"a{51798665895880745140}", "a{1,51798665895880745140}",
                          "(a)\\51798665895880745140", "a{"}) {
    EXPECT_EQ(ParseCommand(crash + bad).error().code, ErrorCode::kInvalid) << bad;
  }
}

TEST(LazyFsCommand, TornOp) {
  const auto parts = ParseCommand("lazyfs::torn-op::file=/r/a::persist=1,3::parts=3").value();
  EXPECT_EQ(std::get<TornOp>(parts).persist, (std::vector<std::uint64_t>{1, 3}));
  EXPECT_EQ(std::get<TornOp>(parts).parts, 3U);
  const auto bytes =
      ParseCommand("lazyfs::torn-op::file=a::persist=2::parts_bytes=10,20::occurrence=4").value();
  EXPECT_EQ(std::get<TornOp>(bytes).bytes, (std::vector<std::uint64_t>{10, 20}));
  EXPECT_EQ(std::get<TornOp>(bytes).occurrence, 4U);
  for (const char* line :
       {"lazyfs::torn-op::file=a::persist=1", "lazyfs::torn-op::file=a::parts=3",
        "lazyfs::torn-op::persist=1::parts=3", "lazyfs::torn-op::file=a::persist=4::parts=3",
        "lazyfs::torn-op::file=a::persist=0::parts=3",
        "lazyfs::torn-op::file=a::persist=x::parts=3",
        "lazyfs::torn-op::file=a::persist=1::parts=2::parts_bytes=1,1",
        "lazyfs::torn-op::file=a::persist=1::parts=2::colour=red"}) {
    EXPECT_EQ(ParseCommand(line).error().code, ErrorCode::kInvalid) << line;
  }
}

TEST(LazyFsCommand, TornSeq) {
  const auto command = ParseCommand("lazyfs::torn-seq::op=write::file=a::persist=1,4").value();
  EXPECT_EQ(std::get<TornSeq>(command).persist, (std::vector<std::uint64_t>{1, 4}));
  EXPECT_FALSE(ParseCommand("lazyfs::torn-seq::op=read::file=a::persist=1"));
  EXPECT_FALSE(ParseCommand("lazyfs::torn-seq::op=write::file=a"));
}

TEST(LazyFsPaths, AFaultMayNameAFileInManyWays) {
  const Paths paths("/mnt", "/root/below");
  for (const char* named : {"/root/below/d/a", "/mnt/d/a", "d/a", "d/*", "/elsewhere/d/a"}) {
    EXPECT_TRUE(paths.Means(named, "d/a")) << named;
  }
  for (const char* named : {"/root/below/a", "/mnt/d", "a", "/elsewhere/a"}) {
    EXPECT_FALSE(paths.Means(named, "d/a")) << named;
  }
  EXPECT_EQ(paths.Full("d/a"), "/root/below/d/a");
}

}  // namespace
}  // namespace tornfs::harness::lazyfs
