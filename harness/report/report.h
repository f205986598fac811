// Report: the results of an exploration for readers: a page, a table, a test report.
//
// Everything comes from the output directory, so a report can be written again at any time, on
// another machine. It says nothing that depends on the number of workers or on how long something
// took: equal results give equal bytes.
//
// Threads: none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace tornfs::harness {

struct ReportedFinding {
  std::string id;
  std::string title;
  std::string phase;     // Who found it wrong: recovery, check, oracle.
  std::string sentence;  // What was lost and why.
  std::string fix;       // The barrier that would help; empty if none is known.
  std::string plan;
  std::vector<std::string> models;
  std::uint64_t states = 0;
  std::string timeline;  // The files of the finding's folder; empty where one is missing.
  std::string promises;
  std::string log;
  // What differs between what programs saw and what the crash left. Paths rise.
  struct Difference {
    std::string path;
    std::string before;  // "5,400 B", "directory", "-> target", or "missing".
    std::string after;
  };
  std::vector<Difference> differences;
};

// Between before/ and after/ in the folder of a finding.
[[nodiscard]] std::vector<ReportedFinding::Difference> TreeDifferences(const std::string& folder);

struct Report {
  int exit_code = 0;
  std::string verdict;   // One line, without "verdict: ".
  std::string coverage;  // One line.
  std::string command;   // The workload, as a shell reads it.
  // What was explored and how far: names and values for a table, in order.
  std::vector<std::pair<std::string, std::string>> facts;
  std::vector<ReportedFinding> findings;  // In the order of their ids.
  std::uint64_t more_kinds = 0;           // Beyond those.
};

// Reads the results that explore wrote into `directory`.
// Errors: kNotFound without results there, kCorrupt, kIo.
[[nodiscard]] Result<Report> LoadReport(const std::string& directory);

enum class ReportFormat : std::uint8_t {
  kHtml,      // One file, needs nothing else.
  kJson,      // The same as a JSON object.
  kJunit,     // JUnit XML: a test case per finding, or one that passed.
  kMarkdown,  // For a comment.
  kGithub,    // Workflow commands: annotations of a run.
};
// Errors: kInvalid, with the known names in the text.
[[nodiscard]] Result<ReportFormat> ParseReportFormat(std::string_view name);
// Ends in a newline.
[[nodiscard]] std::string FormatReport(const Report& report, ReportFormat format);

// report.html, report.json and junit.xml, from what is in `directory` and into it.
// Errors: as LoadReport.
[[nodiscard]] Status WriteReports(const std::string& directory);

}  // namespace tornfs::harness
