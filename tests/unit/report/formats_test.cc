#include "harness/report/formats.h"

#include <gtest/gtest.h>

namespace tornfs::harness {
namespace {

Report WithFinding() {
  Report report;
  report.exit_code = 1;
  report.verdict = "1 kind of violation";
  report.command = "save 1";
  report.facts = {{"model", "posix"}};
  ReportedFinding finding;
  finding.id = "f-0123456789ab";
  finding.title = "lost, 50%: <all>";
  finding.phase = "check";
  finding.sentence = "a | b `c`";
  finding.timeline = "workload\n1  create  a\n     LOST  op 1: name a\n```\n";
  report.findings.push_back(finding);
  return report;
}

TEST(Escape, NothingIsMarkupAndEverythingIsUtf8) {
  EXPECT_EQ(EscapeMarkup("<a b=\"c\">&'"), "&lt;a b=&quot;c&quot;&gt;&amp;&#39;");
  EXPECT_EQ(EscapeMarkup("\x01\x1f\x7f\n\t"), "???\n\t");
  EXPECT_EQ(ValidUtf8("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80"),
            "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80");
  EXPECT_EQ(ValidUtf8("\xff\xc0\x80\xc3"), "????");
  EXPECT_EQ(ValidUtf8("\xed\xa0\x80"), "???");       // A surrogate.
  EXPECT_EQ(ValidUtf8("\xf4\x90\x80\x80"), "????");  // Beyond the last character.
}

TEST(Formats, AnnotationsAreOneLineEach) {
  const std::string text = GithubReport(WithFinding());
  EXPECT_TRUE(text.starts_with("::error title=tornfs%3A lost%2C 50%25%3A <all>::a | b `c`%0A"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
}

TEST(Formats, MarkdownKeepsWhatItQuotes) {
  const std::string text = MarkdownReport(WithFinding());
  EXPECT_NE(text.find("a \\| b \\`c\\`"), std::string::npos);
  EXPECT_NE(text.find("````\nworkload"), std::string::npos);
}

TEST(Formats, AnInconclusiveRunIsAnError) {
  Report report;
  report.exit_code = 3;
  report.verdict = "the budget ended first";
  EXPECT_NE(JunitReport(report).find("errors=\"1\""), std::string::npos);
  EXPECT_NE(JunitReport(report).find("<error message=\"the budget ended first\"/>"),
            std::string::npos);
  EXPECT_TRUE(GithubReport(report).starts_with("::warning "));
  EXPECT_NE(HtmlReport(report).find("verdict open"), std::string::npos);
}

TEST(Formats, HtmlColoursTheTimeline) {
  const std::string page = HtmlReport(WithFinding());
  EXPECT_NE(page.find("<span class=\"lost\">     LOST  op 1: name a</span>"), std::string::npos);
  EXPECT_EQ(page.find("<all>"), std::string::npos);
}

TEST(Formats, KnownByName) {
  EXPECT_EQ(ParseReportFormat("junit").value(), ReportFormat::kJunit);
  EXPECT_FALSE(ParseReportFormat("pdf"));
  EXPECT_FALSE(ParseReportFormat(""));
}

}  // namespace
}  // namespace tornfs::harness
