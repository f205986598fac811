#include "harness/calibrate/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/cli.h"
#include "harness/cpu.h"

namespace tornfs::harness {

std::vector<bool> SeenOf(const AllowedSet& allowed, const ProgramOutcome& outcome) {
  std::vector<bool> seen(allowed.trees.size());
  for (const auto& [tree, ignored] : outcome.seen) {
    const std::size_t at = FindAllowed(allowed, tree);
    if (at != SIZE_MAX) seen[at] = true;
  }
  return seen;
}

namespace {

using Json = nlohmann::json;

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// Calls `visit(filesystem, program)` for all programs that were run where the model knows them.
template <class Visit>
void ForEachUnseen(const CalibrationSpec& spec, const CalibrationOutcome& outcome, Visit visit) {
  for (std::size_t f = 0; f < spec.filesystems.size(); ++f) {
    for (std::size_t p = 0; p < spec.programs.size(); ++p) {
      const AllowedSet& allowed = spec.allowed[f][p];
      if (!allowed.known || outcome.programs[f][p].runs == 0) continue;
      const std::vector<bool> seen = SeenOf(allowed, outcome.programs[f][p]);
      for (std::size_t i = 0; i < seen.size(); ++i) {
        if (!seen[i]) visit(f, p, allowed.trees[i]);
      }
    }
  }
}

struct Totals {
  std::uint64_t runs = 0;
  std::uint64_t images = 0;
  std::uint64_t equal = 0;
  std::uint64_t unreadable = 0;
  std::string unreadable_why;
};

Totals TotalsOf(const CalibrationOutcome& outcome, std::size_t filesystem) {
  Totals totals;
  for (const ProgramOutcome& program : outcome.programs[filesystem]) {
    totals.runs += program.runs;
    totals.images += program.images;
    totals.equal += program.equal;
    totals.unreadable += program.unreadable;
    if (totals.unreadable_why.empty()) totals.unreadable_why = program.unreadable_why;
  }
  return totals;
}

}  // namespace

ModelShare ShareOf(const CalibrationSpec& spec, const CalibrationOutcome& outcome,
                   std::size_t filesystem) {
  ModelShare share;
  std::vector<double> ratios;
  for (std::size_t p = 0; p < spec.programs.size(); ++p) {
    const AllowedSet& allowed = spec.allowed[filesystem][p];
    if (!allowed.known || outcome.programs[filesystem][p].runs == 0) continue;
    const std::vector<bool> seen = SeenOf(allowed, outcome.programs[filesystem][p]);
    const auto count = static_cast<std::size_t>(std::count(seen.begin(), seen.end(), true));
    ++share.programs;
    share.allowed += seen.size();
    share.seen += count;
    ratios.push_back(static_cast<double>(seen.size()) /
                     static_cast<double>(std::max<std::size_t>(count, 1)));
  }
  share.median_ratio = Median(std::move(ratios));
  return share;
}

double ImagesPerSecondAndCore(const CalibrationSpec& spec, const CalibrationOutcome& outcome,
                              std::size_t filesystem) {
  const double seconds = outcome.seconds[filesystem];
  if (seconds <= 0) return 0;
  const double cores =
      static_cast<double>(std::min<std::size_t>(AvailableCores().size(), spec.jobs));
  return static_cast<double>(TotalsOf(outcome, filesystem).images) / seconds * spec.jobs / cores;
}

std::string CalibrationText(const CalibrationSpec& spec, const CalibrationOutcome& outcome) {
  std::string text;
  ForEachUnseen(spec, outcome, [&](std::size_t f, std::size_t p, const AllowedTree& tree) {
    text +=
        fmt::format("never seen: {} {}: {}{}\n", spec.filesystems[f].name, spec.programs[p].name,
                    tree.tree, tree.rule.empty() ? "" : " by " + tree.rule);
  });
  if (!text.empty()) text += "\n";
  text += fmt::format("{:<18} {:<16} {:>8} {:>5} {:>8} {:>8} {:>11} {:>13} {:>7}\n", "filesystem",
                      "model", "programs", "runs", "images", "equal", "images/s*", "allowed/seen",
                      "median");
  for (std::size_t f = 0; f < spec.filesystems.size(); ++f) {
    const ModelShare share = ShareOf(spec, outcome, f);
    const Totals totals = TotalsOf(outcome, f);
    const std::string ratio = fmt::format("{}/{}", share.allowed, share.seen);
    text += fmt::format("{:<18} {:<16} {:>8} {:>5} {:>8} {:>8} {:>11.0f} {:>13} {:>7.2f}\n",
                        spec.filesystems[f].name, spec.filesystems[f].model, share.programs,
                        totals.runs, totals.images, totals.equal,
                        ImagesPerSecondAndCore(spec, outcome, f), ratio, share.median_ratio);
    if (totals.unreadable > 0) {
      text += fmt::format("  {} images could not be read: {}\n", totals.unreadable,
                          totals.unreadable_why);
    }
  }
  text += "* mounted, read and unmounted, a second and core\n\n";
  for (const Escape& escape : outcome.escapes) {
    text += fmt::format("escape {}: {}{}\n", escape.id, escape.sentence,
                        escape.reproduced ? "" : " (not again when it was mounted again)");
  }
  text += fmt::format("{} images, {} complete rounds, {} escapes in {:.1f} s{}\n", outcome.images,
                      outcome.rounds, outcome.escapes.size(),
                      static_cast<double>(outcome.elapsed.count()) / 1000,
                      outcome.interrupted   ? "; interrupted"
                      : outcome.out_of_time ? "; the time was up"
                                            : "");
  return text;
}

Json CalibrationJson(const CalibrationSpec& spec, const CalibrationOutcome& outcome) {
  Json filesystems = Json::array();
  for (std::size_t f = 0; f < spec.filesystems.size(); ++f) {
    const ModelShare share = ShareOf(spec, outcome, f);
    Json programs = Json::array();
    for (std::size_t p = 0; p < spec.programs.size(); ++p) {
      const ProgramOutcome& program = outcome.programs[f][p];
      Json seen = Json::array();
      for (const auto& [tree, one] : program.seen) {
        seen.push_back({{"tree", tree}, {"images", one.images}, {"at_end", one.at_end}});
      }
      programs.push_back({{"name", spec.programs[p].name},
                          {"runs", program.runs},
                          {"images", program.images},
                          {"equal", program.equal},
                          {"unreadable", program.unreadable},
                          {"seen", std::move(seen)}});
    }
    filesystems.push_back({{"name", spec.filesystems[f].name},
                           {"model", spec.filesystems[f].model},
                           {"images_per_second_and_core", ImagesPerSecondAndCore(spec, outcome, f)},
                           {"allowed", share.allowed},
                           {"seen", share.seen},
                           {"median_ratio", share.median_ratio},
                           {"programs", std::move(programs)}});
  }
  Json unseen = Json::array();
  ForEachUnseen(spec, outcome, [&](std::size_t f, std::size_t p, const AllowedTree& tree) {
    unseen.push_back({{"filesystem", spec.filesystems[f].name},
                      {"program", spec.programs[p].name},
                      {"tree", tree.tree},
                      {"rule", tree.rule}});
  });
  Json escapes = Json::array();
  for (const Escape& escape : outcome.escapes) {
    escapes.push_back({{"id", escape.id},
                       {"filesystem", spec.filesystems[escape.filesystem].name},
                       {"program", spec.programs[escape.program].name},
                       {"sentence", escape.sentence},
                       {"reproduced", escape.reproduced}});
  }
  return {{"images", outcome.images},
          {"rounds", outcome.rounds},
          {"filesystems", filesystems},
          {"never_seen", unseen},
          {"escapes", escapes},
          {"interrupted", outcome.interrupted},
          {"out_of_time", outcome.out_of_time},
          {"seconds", static_cast<double>(outcome.elapsed.count()) / 1000}};
}

int CalibrationExit(const CalibrationOutcome& outcome) {
  if (outcome.error) {
    return outcome.error->code == ErrorCode::kMissing ? kExitMissing : kExitInconclusive;
  }
  if (!outcome.escapes.empty()) return kExitViolation;
  if (outcome.interrupted || outcome.images == 0) return kExitInconclusive;
  if (outcome.out_of_time && outcome.rounds == 0) return kExitInconclusive;
  return kExitOk;
}

}  // namespace tornfs::harness
