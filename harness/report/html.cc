// The report as a page.
#include <algorithm>

#include "harness/report/formats.h"

namespace tornfs::harness {
namespace {

constexpr const char* kStyle = R"css(
body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 62em; padding: 0 1em;
       color: #1c1c1c; background: #fff; }
h1 { font-size: 1.4em; } h2 { font-size: 1.15em; margin: 2.2em 0 .3em; }
h3 { font-size: 1em; margin: 1.2em 0 .3em; }
.verdict { padding: .7em 1em; border-left: .4em solid; font-weight: 600; }
.good { border-color: #2a7d3f; background: #eaf6ed; }
.bad { border-color: #b3261e; background: #fbeceb; }
.open { border-color: #9a6700; background: #fff6e0; }
table { border-collapse: collapse; } td, th { padding: .15em .9em .15em 0; text-align: left;
       vertical-align: top; }
th { font-weight: 500; color: #555; }
pre, code { font: 13px/1.45 ui-monospace, monospace; }
pre { background: #f6f6f6; padding: .8em 1em; overflow-x: auto; }
.why { font-size: 1.05em; } .lost { color: #b3261e; font-weight: 600; } .kept { color: #2a7d3f; }
.crash { color: #9a6700; font-weight: 600; } .promise { color: #1f4fa3; }
@media (prefers-color-scheme: dark) {
  body { color: #e4e4e4; background: #161616; } pre { background: #222; }
  .good { background: #15301d; } .bad { background: #3a1715; } .open { background: #33280d; }
  th { color: #aaa; } .lost { color: #ff8a80; } .kept { color: #7fd99a; }
  .crash { color: #ffc95c; } .promise { color: #8fb4ff; }
}
)css";

std::string Code(const std::string& text) { return "<code>" + EscapeMarkup(text) + "</code>"; }

std::string Pre(const std::string& title, const std::string& text) {
  if (text.empty()) return "";
  return "<h3>" + title + "</h3>\n<pre>" + EscapeMarkup(text) + "</pre>\n";
}

// A line of the timeline in the colour of what it says.
std::string TimelineLine(const std::string& line) {
  const char* kind = line.starts_with("----")               ? "crash"
                     : line.starts_with("     LOST")        ? "lost"
                     : line.starts_with("     kept")        ? "kept"
                     : line.find("promised: ") != line.npos ? "promise"
                                                            : nullptr;
  if (kind == nullptr) return EscapeMarkup(line);
  return std::string("<span class=\"") + kind + "\">" + EscapeMarkup(line) + "</span>";
}

std::string TimelineText(const std::string& timeline) {
  if (timeline.empty()) return "";
  std::string text = "<h3>Timeline</h3>\n<pre>";
  for (std::size_t begin = 0; begin < timeline.size();) {
    const std::size_t end = std::min(timeline.find('\n', begin), timeline.size());
    text += TimelineLine(timeline.substr(begin, end - begin)) + "\n";
    begin = end + 1;
  }
  return text + "</pre>\n";
}

std::string DifferencesText(const ReportedFinding& finding) {
  if (finding.differences.empty()) return "";
  std::string text =
      "<h3>What the crash changed</h3>\n<table>\n<tr><th>path</th><th>as the program saw it</th>"
      "<th>after the crash</th></tr>\n";
  for (const auto& each : finding.differences) {
    text += "<tr><td>" + Code(each.path) + "</td><td>" + EscapeMarkup(each.before) + "</td><td>" +
            EscapeMarkup(each.after) + "</td></tr>\n";
  }
  return text + "</table>\n";
}

std::string FindingText(const ReportedFinding& finding) {
  std::string models;
  for (const std::string& model : finding.models) models += (models.empty() ? "" : ", ") + model;
  std::string text = "<h2 id=\"" + EscapeMarkup(finding.id) + "\">" + EscapeMarkup(finding.title) +
                     "</h2>\n<p class=\"why\">" + EscapeMarkup(finding.sentence) + "</p>\n";
  if (!finding.fix.empty()) text += "<p>Fix: " + EscapeMarkup(finding.fix) + "</p>\n";
  text += "<table>\n<tr><th>found by</th><td>" + EscapeMarkup(finding.phase) +
          "</td></tr>\n<tr><th>failing states</th><td>" + std::to_string(finding.states) +
          "</td></tr>\n" +
          (models.empty() ? ""
                          : "<tr><th>allowed by</th><td>" + EscapeMarkup(models) + "</td></tr>\n") +
          "<tr><th>plan</th><td>" + Code(finding.plan) + "</td></tr>\n<tr><th>again</th><td>" +
          Code("tornfs replay " + finding.id) + " or " +
          Code("findings/" + finding.id + "/repro.sh") + "</td></tr>\n</table>\n";
  return text + DifferencesText(finding) + TimelineText(finding.timeline) +
         Pre("Promised before the crash", finding.promises) +
         Pre("What was said of the state", finding.log);
}

}  // namespace

std::string HtmlReport(const Report& report) {
  const char* kind = report.exit_code == 0 ? "good" : report.exit_code == 1 ? "bad" : "open";
  std::string text =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>tornfs: " +
      EscapeMarkup(report.command) + "</title>\n<style>" + kStyle + "</style>\n</head>\n<body>\n";
  text += "<h1>" + Code(report.command) + "</h1>\n<p class=\"verdict " + kind + "\">" +
          EscapeMarkup(report.verdict) + "</p>\n<p>" + EscapeMarkup(report.coverage) + "</p>\n";
  if (report.findings.size() > 1) {
    text += "<ol>\n";
    for (const ReportedFinding& finding : report.findings) {
      text += "<li><a href=\"#" + EscapeMarkup(finding.id) + "\">" + EscapeMarkup(finding.title) +
              "</a></li>\n";
    }
    text += "</ol>\n";
  }
  text += "<table>\n";
  for (const auto& [name, value] : report.facts) {
    text += "<tr><th>" + EscapeMarkup(name) + "</th><td>" + EscapeMarkup(value) + "</td></tr>\n";
  }
  text += "</table>\n";
  for (const ReportedFinding& finding : report.findings) text += FindingText(finding);
  if (report.more_kinds > 0) {
    text += "<p>And " + std::to_string(report.more_kinds) + " more that look different.</p>\n";
  }
  return text + "</body>\n</html>\n";
}

}  // namespace tornfs::harness
