// tornfs report: the results of an exploration in the format of a reader.
#include <boost/program_options.hpp>
#include <iostream>

#include "common/log.h"
#include "harness/commands.h"
#include "harness/printing.h"
#include "harness/report/report.h"

namespace tornfs::harness {
namespace {

namespace po = boost::program_options;

void Describe(po::options_description& options, std::vector<Positional>& positionals) {
  positionals.push_back({"DIR", true});
  options.add_options()("format", po::value<std::string>(),
                        "html, json, junit, markdown or github (default: markdown, and json with "
                        "--json)");
}

int Run(const ParsedCommand& parsed) {
  if (!CanPrint()) return kExitInconclusive;
  const bool given = parsed.options.count("format") > 0;
  const std::string name = given         ? parsed.options["format"].as<std::string>()
                           : parsed.json ? "json"
                                         : "markdown";
  const auto format = ParseReportFormat(name);
  if (!format) return UsageError(parsed, format.error().Message());
  const auto report = LoadReport(parsed.positionals.front());
  if (!report) {
    LogError(report.error().Message());
    return report.error().code == ErrorCode::kNotFound ? kExitUsage : kExitInconclusive;
  }
  std::cout << FormatReport(*report, *format);
  return AfterPrinting(kExitOk);
}

}  // namespace

const Command kReportCommand{
    "report",
    "show the results of an exploration",
    "DIR [--format FORMAT]",
    "DIR is what explore wrote with --out. The report goes to standard output: html for a browser\n"
    "(one file, nothing is loaded), json and junit for programs, markdown for a comment, github "
    "for\n"
    "annotations of a workflow run. explore leaves report.html, report.json and junit.xml in DIR.",
    TakesChild::kNone,
    Describe,
    Run};

}  // namespace tornfs::harness
