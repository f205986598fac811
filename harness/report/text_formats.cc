// The formats for other programs: JUnit XML, Markdown, workflow commands.
#include "harness/report/formats.h"

namespace tornfs::harness {
namespace {

bool Inconclusive(const Report& report) { return report.exit_code != 0 && report.exit_code != 1; }

std::string Models(const ReportedFinding& finding) {
  std::string models;
  for (const std::string& model : finding.models) models += (models.empty() ? "" : " ") + model;
  return models;
}

// In one line of a table or list: nothing in it is taken for markup.
std::string Plain(const std::string& text) {
  std::string plain;
  for (const char c : ValidUtf8(text)) {
    if (std::string_view("\\`*_{}[]<>|#").find(c) != std::string_view::npos) plain += '\\';
    plain += c == '\n' || c == '\r' ? ' ' : c;
  }
  return plain;
}

// In a block that no run of backticks in `text` can end.
std::string Fenced(const std::string& text) {
  std::string fence = "```";
  while (text.find(fence) != std::string::npos) fence += '`';
  return fence + "\n" + ValidUtf8(text) + (text.ends_with('\n') ? "" : "\n") + fence + "\n";
}

// Data of a workflow command; in a property also ':' and ',' have a meaning.
std::string CommandData(const std::string& text, bool property) {
  std::string data;
  for (const char c : ValidUtf8(text)) {
    switch (c) {
      case '%': data += "%25"; break;
      case '\r': data += "%0D"; break;
      case '\n': data += "%0A"; break;
      case ':': data += property ? "%3A" : ":"; break;
      case ',': data += property ? "%2C" : ","; break;
      default: data += c;
    }
  }
  return data;
}

std::string JunitCase(const ReportedFinding& finding) {
  return "    <testcase classname=\"tornfs." + EscapeMarkup(finding.phase) + "\" name=\"" +
         EscapeMarkup(finding.title) + "\">\n      <failure message=\"" +
         EscapeMarkup(finding.sentence) + "\" type=\"" + EscapeMarkup(finding.id) + "\">" +
         EscapeMarkup(finding.timeline + "\n" + finding.log +
                      (finding.models.empty() ? "" : "\nmodels: " + Models(finding)) +
                      "\nplan: " + finding.plan + "\n") +
         "</failure>\n    </testcase>\n";
}

}  // namespace

std::string JunitReport(const Report& report) {
  const std::size_t found = report.findings.size();
  const std::size_t errors = Inconclusive(report) ? 1 : 0;
  const std::string counts = " tests=\"" + std::to_string(found == 0 ? 1 : found) +
                             "\" failures=\"" + std::to_string(found) + "\" errors=\"" +
                             std::to_string(errors) + "\" skipped=\"0\"";
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" + counts +
                     ">\n  <testsuite name=\"" + EscapeMarkup("tornfs explore " + report.command) +
                     "\"" + counts + ">\n    <properties>\n";
  for (const auto& [name, value] : report.facts) {
    text += "      <property name=\"" + EscapeMarkup(name) + "\" value=\"" + EscapeMarkup(value) +
            "\"/>\n";
  }
  text += "      <property name=\"coverage\" value=\"" + EscapeMarkup(report.coverage) +
          "\"/>\n    </properties>\n";
  for (const ReportedFinding& finding : report.findings) text += JunitCase(finding);
  if (found == 0) {
    text += "    <testcase classname=\"tornfs\" name=\"crash states\"";
    text += errors == 0 ? "/>\n"
                        : ">\n      <error message=\"" + EscapeMarkup(report.verdict) +
                              "\"/>\n    </testcase>\n";
  }
  return text + "  </testsuite>\n</testsuites>\n";
}

std::string MarkdownReport(const Report& report) {
  std::string text = "### tornfs: " + Plain(report.verdict) + "\n\n" + Plain(report.coverage) +
                     "\n\n| | |\n|---|---|\n";
  text += "| workload | " + Plain(report.command) + " |\n";
  for (const auto& [name, value] : report.facts) {
    text += "| " + Plain(name) + " | " + Plain(value) + " |\n";
  }
  for (const ReportedFinding& finding : report.findings) {
    text += "\n#### " + Plain(finding.title) + "\n\n" + Plain(finding.sentence) + "\n\n";
    if (!finding.fix.empty()) text += "Fix: " + Plain(finding.fix) + "\n\n";
    if (!finding.models.empty()) text += "Allowed by: " + Plain(Models(finding)) + ". ";
    text += "Again: `tornfs replay " + finding.id +
            "`\n\n<details><summary>Timeline</summary>\n\n" + Fenced(finding.timeline) +
            "\n</details>\n";
  }
  if (report.more_kinds > 0) {
    text += "\nAnd " + std::to_string(report.more_kinds) + " more that look different.\n";
  }
  return text;
}

std::string GithubReport(const Report& report) {
  std::string text;
  for (const ReportedFinding& finding : report.findings) {
    text += "::error title=" + CommandData("tornfs: " + finding.title, true) +
            "::" + CommandData(finding.sentence + "\ntornfs replay " + finding.id, false) + "\n";
  }
  const char* kind = report.exit_code == 0 ? "notice" : Inconclusive(report) ? "warning" : "error";
  return text + "::" + kind + " title=" + CommandData("tornfs: " + report.command, true) +
         "::" + CommandData(report.verdict + "\n" + report.coverage, false) + "\n";
}

}  // namespace tornfs::harness
