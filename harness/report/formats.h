// The formats of a report, one function each; FormatReport (report.h) chooses.
#pragma once

#include <string>

#include "harness/report/report.h"

namespace tornfs::harness {

[[nodiscard]] std::string HtmlReport(const Report& report);
[[nodiscard]] std::string JsonReport(const Report& report);
[[nodiscard]] std::string JunitReport(const Report& report);
[[nodiscard]] std::string MarkdownReport(const Report& report);
[[nodiscard]] std::string GithubReport(const Report& report);

// `text` for element content and attribute values of XML and HTML: markup is escaped, control
// characters that XML has no way to write become '?', and so do bytes that are not UTF-8.
[[nodiscard]] std::string EscapeMarkup(const std::string& text);
// `text` with every byte that does not belong to a UTF-8 character replaced by '?'.
[[nodiscard]] std::string ValidUtf8(const std::string& text);

}  // namespace tornfs::harness
