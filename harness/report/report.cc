#include "harness/report/report.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "common/fd.h"
#include "harness/report/formats.h"

namespace tornfs::harness {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::array<std::string_view, 5> kFormats{"html", "json", "junit", "markdown", "github"};

std::string FileText(const std::string& path) {
  auto text = ReadFile(path);
  return text ? std::move(*text) : std::string();
}

std::string Number(std::uint64_t value) {
  std::string digits = std::to_string(value);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string ShellWord(const std::string& word) {
  const bool plain = !word.empty() && word.find_first_not_of(
                                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789%+,-./:=@_") == std::string::npos;
  if (plain) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// What is at a path: how it reads in a table, and what tells it from another of the same look.
struct Look {
  std::string shown;
  std::string content;
};

Look LookAt(const fs::directory_entry& entry) {
  std::error_code ignored;
  if (entry.is_symlink(ignored)) {
    const std::string target = fs::read_symlink(entry.path(), ignored).string();
    return {"-> " + target, ""};
  }
  if (entry.is_directory(ignored)) return {"directory", ""};
  if (!entry.is_regular_file(ignored)) return {"special file", ""};
  return {Number(entry.file_size(ignored)) + " B", FileText(entry.path())};
}

std::map<std::string, Look> LookAtTree(const fs::path& top) {
  std::map<std::string, Look> found;
  std::error_code error;
  for (fs::recursive_directory_iterator at(top, error), end; !error && at != end;
       at.increment(error)) {
    found[fs::relative(at->path(), top, error).string()] = LookAt(*at);
  }
  return found;
}

ReportedFinding FindingOf(const json& stats, const std::string& directory) {
  ReportedFinding finding;
  stats.at("id").get_to(finding.id);
  stats.at("title").get_to(finding.title);
  stats.at("phase").get_to(finding.phase);
  stats.at("sentence").get_to(finding.sentence);
  stats.at("plan").get_to(finding.plan);
  stats.at("models").get_to(finding.models);
  stats.at("states").get_to(finding.states);
  if (stats.at("fence").is_object()) stats["fence"].at("text").get_to(finding.fix);
  const std::string folder = directory + "/findings/" + finding.id;
  finding.timeline = FileText(folder + "/timeline.txt");
  finding.promises = FileText(folder + "/promises.txt");
  finding.log = FileText(folder + "/check.log");
  finding.differences = TreeDifferences(folder);
  return finding;
}

void AddFacts(const json& stats, Report& report) {
  const json& asked = stats.at("exploration");
  for (const std::string& word : asked.at("workload").get<std::vector<std::string>>()) {
    report.command += (report.command.empty() ? "" : " ") + ShellWord(word);
  }
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) report.facts.emplace_back(name, value);
  };
  add("setup", asked.at("setup").get<std::string>());
  add("recovery", asked.at("recover").get<std::string>());
  add("check", asked.at("check").get<std::string>());
  if (stats.contains("on")) {
    for (const auto& [name, value] : stats["on"].items()) add(name.c_str(), value);
    return;
  }
  add("model", asked.at("model").get<std::string>());
  add("tear", asked.at("tear").get<std::string>());
  add("faults", asked.at("kill").get<bool>() ? "kill, power" : "power");
  add("depth", std::to_string(asked.at("depth").get<unsigned>()));
  add("strategy", stats.at("strategy").get<std::string>());
  add("seed", std::to_string(asked.at("seed").get<std::uint64_t>()));
  add("ops", Number(stats.at("ops").get<std::uint64_t>()));
  add("promises", Number(stats.at("promises").get<std::uint64_t>()));
  add("crash points", Number(stats.at("crash_points").get<std::uint64_t>()));
  add("legal states", stats.at("lazy").at("legal").get<std::string>());
  add("states judged", Number(stats.at("states").get<std::uint64_t>()));
  add("failing states", Number(stats.at("failing_states").get<std::uint64_t>()));
  add("windows tried whole", Number(stats.at("windows_tried_whole").get<std::uint64_t>()) + " of " +
                                 Number(stats.at("windows").get<std::uint64_t>()));
  add("history", stats.at("history").get<std::string>());
}

}  // namespace

std::vector<ReportedFinding::Difference> TreeDifferences(const std::string& folder) {
  const auto before = LookAtTree(folder + "/before");
  auto after = LookAtTree(folder + "/after");
  std::vector<ReportedFinding::Difference> differences;
  for (const auto& [path, was] : before) {
    const auto is = after.find(path);
    if (is == after.end()) {
      differences.push_back({path, was.shown, "missing"});
      continue;
    }
    if (is->second.shown != was.shown) {
      differences.push_back({path, was.shown, is->second.shown});
    } else if (is->second.content != was.content) {
      differences.push_back({path, was.shown, is->second.shown + ", other bytes"});
    }
    after.erase(is);
  }
  for (const auto& [path, is] : after) differences.push_back({path, "missing", is.shown});
  std::ranges::sort(differences, {}, &ReportedFinding::Difference::path);
  return differences;
}

Result<Report> LoadReport(const std::string& directory) {
  auto text = ReadFile(directory + "/stats.json");
  if (!text && text.error().sys_errno == ENOENT) {
    return Fail(ErrorCode::kNotFound, directory + " holds no results of an exploration");
  }
  if (!text) return tl::make_unexpected(text.error());
  Report report;
  try {
    const json stats = json::parse(*text);
    stats.at("exit_code").get_to(report.exit_code);
    stats.at("verdict").get_to(report.verdict);
    stats.at("coverage").get_to(report.coverage);
    stats.at("more_kinds").get_to(report.more_kinds);
    if (report.verdict.starts_with("verdict: ")) report.verdict.erase(0, 9);
    AddFacts(stats, report);
    for (const json& finding : stats.at("findings")) {
      report.findings.push_back(FindingOf(finding, directory));
    }
  } catch (const json::exception& error) {
    return Fail(ErrorCode::kCorrupt, directory + "/stats.json: " + error.what());
  }
  std::ranges::sort(report.findings, {}, &ReportedFinding::id);
  return report;
}

std::string JsonReport(const Report& report) {
  json facts = json::object();
  for (const auto& [name, value] : report.facts) facts[name] = value;
  json findings = json::array();
  for (const ReportedFinding& finding : report.findings) {
    json differences = json::array();
    for (const auto& each : finding.differences) {
      differences.push_back({{"path", each.path}, {"before", each.before}, {"after", each.after}});
    }
    findings.push_back({{"id", finding.id},
                        {"title", finding.title},
                        {"phase", finding.phase},
                        {"sentence", finding.sentence},
                        {"fix", finding.fix},
                        {"plan", finding.plan},
                        {"models", finding.models},
                        {"states", finding.states},
                        {"timeline", finding.timeline},
                        {"promises", finding.promises},
                        {"log", finding.log},
                        {"differences", std::move(differences)}});
  }
  const json whole = {{"version", 1},
                      {"exit_code", report.exit_code},
                      {"verdict", report.verdict},
                      {"coverage", report.coverage},
                      {"workload", report.command},
                      {"facts", std::move(facts)},
                      {"findings", std::move(findings)},
                      {"more_kinds", report.more_kinds}};
  return whole.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<ReportFormat> ParseReportFormat(std::string_view name) {
  for (std::size_t i = 0; i < kFormats.size(); ++i) {
    if (kFormats[i] == name) return static_cast<ReportFormat>(i);
  }
  return Fail(ErrorCode::kInvalid, "unknown format '" + std::string(name) +
                                       "'; known are html, json, junit, markdown, github");
}

std::string FormatReport(const Report& report, ReportFormat format) {
  switch (format) {
    case ReportFormat::kHtml: return HtmlReport(report);
    case ReportFormat::kJson: return JsonReport(report);
    case ReportFormat::kJunit: return JunitReport(report);
    case ReportFormat::kMarkdown: return MarkdownReport(report);
    case ReportFormat::kGithub: break;
  }
  return GithubReport(report);
}

Status WriteReports(const std::string& directory) {
  const auto report = LoadReport(directory);
  if (!report) return tl::make_unexpected(report.error());
  const std::pair<const char*, ReportFormat> files[] = {{"report.html", ReportFormat::kHtml},
                                                        {"report.json", ReportFormat::kJson},
                                                        {"junit.xml", ReportFormat::kJunit}};
  for (const auto& [name, format] : files) {
    auto written = WriteFile(directory + "/" + name, FormatReport(*report, format));
    if (!written) return written;
  }
  return {};
}

}  // namespace tornfs::harness
