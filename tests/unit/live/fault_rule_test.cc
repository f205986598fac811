// Fault rules: what is understood, what is refused, and which requests they mean.
#include "harness/live/fault_rule.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace tornfs::harness {
namespace {

TEST(FaultRule, Parses) {
  const FaultRule rule = ParseFaultRule("fail:ENOSPC:btrfs fsync wal/* by sqlite3 #2..4").value();
  EXPECT_EQ(rule.fault->kind, Fault::Kind::kFail);
  EXPECT_EQ(rule.fault->error, ENOSPC);
  EXPECT_EQ(rule.fault->aftermath, Aftermath::kRevert);
  EXPECT_EQ(rule.operation, "fsync");
  EXPECT_EQ(rule.glob, "wal/*");
  EXPECT_EQ(rule.comm, "sqlite3");
  EXPECT_EQ(rule.first, 2U);
  EXPECT_EQ(rule.last, 4U);
}

TEST(FaultRule, ParsesEveryEffect) {
  EXPECT_EQ(ParseFaultRule("lie fdatasync")->fault->kind, Fault::Kind::kLie);
  EXPECT_EQ(ParseFaultRule("short:4KiB write #3")->fault->amount, 4096U);
  EXPECT_EQ(ParseFaultRule("short:4KiB write #3")->last, 3U);
  EXPECT_EQ(ParseFaultRule("flip:9 read #3..")->last, UINT64_MAX);
  EXPECT_EQ(ParseFaultRule("flip read")->fault->amount, 0U);
  EXPECT_EQ(ParseFaultRule("zero write")->fault->kind, Fault::Kind::kZero);
  EXPECT_EQ(ParseFaultRule("misdirect write")->fault->kind, Fault::Kind::kMisdirect);
  EXPECT_FALSE(ParseFaultRule("delay:20ms op")->fault.has_value());
  EXPECT_EQ(ParseFaultRule("delay:20ms op")->delay.count(), 20);
}

TEST(FaultRule, RefusesWhatMakesNoSense) {
  for (const char* text : {"",
                           "lie",
                           "fail write",
                           "fail:EWHAT write",
                           "fail:EIO:zfs fsync",
                           "lie write",
                           "short:x write",
                           "short:1 read",
                           "misdirect read",
                           "zero fsync",
                           "flip:x read",
                           "lie:1 fsync",
                           "delay write",
                           "delay:3 write",
                           "bang write",
                           "fail:EIO what",
                           "fail:EIO write #0",
                           "fail:EIO write #3..2",
                           "fail:EIO write by",
                           "fail:EIO write a b"}) {
    EXPECT_FALSE(ParseFaultRule(text)) << text;
  }
}

TEST(FaultRule, MatchesByOperationPathAndCaller) {
  const FaultRule rule = ParseFaultRule("fail:EIO write wal/* by db").value();
  EXPECT_TRUE(rule.Matches({"write", 1, "wal/1", "", "db"}));
  EXPECT_FALSE(rule.Matches({"read", 1, "wal/1", "", "db"}));
  EXPECT_FALSE(rule.Matches({"write", 1, "data", "", "db"}));
  EXPECT_FALSE(rule.Matches({"write", 1, "wal/1", "", "cat"}));
  EXPECT_TRUE(ParseFaultRule("fail:EIO rename b")->Matches({"rename", 1, "a", "b", ""}));
  EXPECT_TRUE(ParseFaultRule("fail:EIO op")->Matches({"open", 1, "a", "", ""}));
}

}  // namespace
}  // namespace tornfs::harness
