#include "harness/explore/verdict.h"

#include <gtest/gtest.h>

namespace tornfs::harness {
namespace {

RunResult Exited(int code, std::string output = "") {
  RunResult result;
  result.report.wait_status = code << 8;
  result.output = std::move(output);
  return result;
}

TEST(Verdict, ExitCodesOfTheCheck) {
  EXPECT_EQ(JudgeCheck(Exited(0)).judgement, Judgement::kGood);
  EXPECT_EQ(JudgeCheck(Exited(77)).judgement, Judgement::kNotApplicable);
  EXPECT_EQ(JudgeCheck(Exited(125)).judgement, Judgement::kCannotJudge);
  EXPECT_EQ(JudgeCheck(Exited(1)).judgement, Judgement::kViolation);
  RunResult killed;
  killed.report.wait_status = 11;
  EXPECT_EQ(JudgeCheck(killed).judgement, Judgement::kViolation);
  EXPECT_EQ(JudgeCheck(killed).title, "check was killed by signal 11");
}

TEST(Verdict, TheTitleIsTheFirstLine) {
  EXPECT_EQ(JudgeCheck(Exited(1, "row 3 is gone\nmore")).title, "row 3 is gone");
  EXPECT_EQ(JudgeCheck(Exited(3)).title, "check exited with 3");
}

TEST(Verdict, ATimeoutIsAHang) {
  RunResult result = Exited(0);
  result.timed_out = true;
  EXPECT_EQ(JudgeCheck(result).judgement, Judgement::kViolation);
  EXPECT_EQ(JudgeCheck(result).title, "hang");
  EXPECT_EQ(JudgeRecovery(result).judgement, Judgement::kViolation);
}

TEST(Verdict, ARecoveryMustSucceed) {
  EXPECT_EQ(JudgeRecovery(Exited(0)).judgement, Judgement::kGood);
  EXPECT_EQ(JudgeRecovery(Exited(77)).judgement, Judgement::kViolation);
}

TEST(Verdict, NumbersDoNotMakeAFindingNew) {
  const auto signature = [](std::string title) { return JudgeCheck(Exited(1, title)).Signature(); };
  EXPECT_EQ(signature("op 12 has 00ab34cd and is missing"),
            signature("op 7 has ff12 and is missing"));
  EXPECT_NE(signature("op 12 is missing"), signature("op 12 is damaged"));
  EXPECT_NE(JudgeCheck(Exited(1, "x")).Signature(), JudgeCheck(Exited(2, "x")).Signature());
  EXPECT_NE(JudgeCheck(Exited(1, "x")).Signature(), JudgeRecovery(Exited(1, "x")).Signature());
}

}  // namespace
}  // namespace tornfs::harness
