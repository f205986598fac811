#include "fusefs/core/trigger.h"

#include <gtest/gtest.h>

#include <string>

namespace tornfs {
namespace {

TriggerRequest Request(OpKind kind, std::string path, std::string comm = "prog",
                       OpNumber number = 1) {
  TriggerRequest request;
  request.kind = kind;
  request.number = number;
  request.path = std::move(path);
  request.comm = std::move(comm);
  return request;
}

TEST(Trigger, EveryPartIsRead) {
  const Trigger trigger = ParseTrigger("during  rename wal/*.log by sqlite3 #3").value();
  EXPECT_EQ(trigger.when, When::kDuring);
  EXPECT_EQ(trigger.kind, OpKind::kRename);
  EXPECT_EQ(trigger.glob, "wal/*.log");
  EXPECT_EQ(trigger.comm, "sqlite3");
  EXPECT_EQ(trigger.count, 3U);
  EXPECT_EQ(trigger.number, 0U);
}

TEST(Trigger, OptionalPartsHaveDefaults) {
  const Trigger trigger = ParseTrigger("after write").value();
  EXPECT_EQ(trigger.when, When::kAfter);
  EXPECT_TRUE(trigger.glob.empty());
  EXPECT_TRUE(trigger.comm.empty());
  EXPECT_EQ(trigger.count, 1U);
}

TEST(Trigger, APlainOpNumberNamesTheOp) {
  EXPECT_EQ(ParseTrigger("before op #57").value().number, 57U);
  const Trigger third_op_on_a = ParseTrigger("before op a #3").value();
  EXPECT_EQ(third_op_on_a.number, 0U);
  EXPECT_EQ(third_op_on_a.count, 3U);
}

TEST(Trigger, EveryKindHasItsName) {
  for (int kind = 0; kind < kOpKinds; ++kind) {
    const std::string name(OpKindName(static_cast<OpKind>(kind)));
    EXPECT_EQ(ParseTrigger("before " + name).value().kind, static_cast<OpKind>(kind)) << name;
  }
}

TEST(Trigger, TextsSurviveARoundTrip) {
  for (const char* text : {"before fsync wal/* #3", "after write", "during rename by sqlite3",
                           "before op #57", "before op * by x #2"}) {
    EXPECT_EQ(FormatTrigger(ParseTrigger(text).value()), text);
  }
}

TEST(Trigger, ErrorsNameTheWord) {
  const struct {
    const char* text;
    const char* named;
  } kCases[] = {
      {"", "expected"},
      {"before", "expected"},
      {"at write", "'at'"},
      {"before wriet", "'wriet'"},
      {"before write a b", "'b'"},
      {"before write #0", "'#0'"},
      {"before write #x", "'#x'"},
      {"before write #", "'#'"},
      {"before write by", "'by'"},
      {"before write #2 by x", "'by'"},
      {"before op #99999999999", "too large"},
  };
  for (const auto& test : kCases) {
    const auto result = ParseTrigger(test.text);
    ASSERT_FALSE(result) << test.text;
    EXPECT_EQ(result.error().code, ErrorCode::kInvalid);
    EXPECT_NE(result.error().Message().find(test.named), std::string::npos)
        << result.error().Message();
  }
}

TEST(ArmedTrigger, FiresOnceAtTheCountedMatch) {
  ArmedTrigger trigger(ParseTrigger("before fsync wal/* #2").value());
  EXPECT_FALSE(trigger.Fires(When::kBefore, Request(OpKind::kFsync, "other/1")));
  EXPECT_FALSE(trigger.Fires(When::kBefore, Request(OpKind::kWrite, "wal/1")));
  EXPECT_FALSE(trigger.Fires(When::kBefore, Request(OpKind::kFsync, "wal/1")));
  EXPECT_FALSE(trigger.Fires(When::kAfter, Request(OpKind::kFsync, "wal/1")));
  EXPECT_TRUE(trigger.Fires(When::kBefore, Request(OpKind::kFsync, "wal/2")));
  EXPECT_TRUE(trigger.fired());
  EXPECT_FALSE(trigger.Fires(When::kBefore, Request(OpKind::kFsync, "wal/2")));
}

TEST(ArmedTrigger, ARenameMatchesByEitherPath) {
  TriggerRequest request = Request(OpKind::kRename, "tmp/x");
  request.to = "live/x";
  EXPECT_TRUE(
      ArmedTrigger(ParseTrigger("after rename tmp/*").value()).Fires(When::kAfter, request));
  EXPECT_TRUE(
      ArmedTrigger(ParseTrigger("after rename live/*").value()).Fires(When::kAfter, request));
  EXPECT_FALSE(ArmedTrigger(ParseTrigger("after rename w*").value()).Fires(When::kAfter, request));
}

TEST(ArmedTrigger, TheCallerIsNamedByItsThread) {
  ArmedTrigger trigger(ParseTrigger("before op by writer").value());
  EXPECT_FALSE(trigger.Fires(When::kBefore, Request(OpKind::kWrite, "a", "reader")));
  EXPECT_TRUE(trigger.Fires(When::kBefore, Request(OpKind::kWrite, "a", "writer")));
}

TEST(ArmedTrigger, AnOpNumberFiresAtThatOp) {
  ArmedTrigger trigger(ParseTrigger("after op #7").value());
  EXPECT_FALSE(trigger.Fires(When::kAfter, Request(OpKind::kWrite, "a", "p", 6)));
  EXPECT_TRUE(trigger.Fires(When::kAfter, Request(OpKind::kWrite, "a", "p", 7)));
}

}  // namespace
}  // namespace tornfs
