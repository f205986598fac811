#include "harness/live/crash_report.h"

#include <sys/random.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/check.h"
#include "common/rng.h"

namespace tornfs::harness {
namespace {

std::string_view WhenText(When when) {
  switch (when) {
    case When::kBefore: return "before";
    case When::kDuring: return "during";
    case When::kAfter: return "after";
  }
  return "";
}

// Short enough to be typed again.
std::uint64_t DrawSeed() {
  std::uint32_t seed = 0;
  CHECK(::getrandom(&seed, sizeof seed, 0) == sizeof seed);
  return seed;
}

Result<Choice> Choose(const Window& window, const CrashOptions& options, CrashReport& report) {
  report.by_plan = !options.plan.empty();
  if (report.by_plan) {
    auto choice = window.ChoiceOf(options.plan);
    if (choice) return choice;
    return Fail(ErrorCode::kInvalid, "the plan '" + options.plan + "' does not fit the " +
                                         std::to_string(window.nodes().size()) +
                                         " effects pending here with tearing by " +
                                         std::string(TearName(window.tear())));
  }
  report.lose = options.lose;
  switch (options.lose) {
    case Lose::kAll: return window.None();
    case Lose::kNone: return window.All();
    case Lose::kRandom: break;
  }
  report.seed = options.seed ? *options.seed : DrawSeed();
  Rng rng(*report.seed);
  return window.Random(rng);
}

}  // namespace

Result<CrashReport> LosePower(Engine& engine, const CrashOptions& options) {
  CrashReport report;
  const Window window = engine.CrashWindow(engine.model().Effective(options.tear));
  const auto choice = Choose(window, options, report);
  if (!choice) return tl::make_unexpected(choice.error());
  report.ops = engine.next_op() - 1;
  report.nodes = window.nodes().size();
  report.lost = static_cast<std::size_t>(std::ranges::count(choice->kept, false));
  report.torn = choice->torn.size();
  report.plan = window.Token(*choice);
  report.tear = window.tear();
  engine.PowerLoss(window, *choice);
  return report;
}

std::string Describe(const CrashReport& report) {
  std::string text = "crashed ";
  if (report.point) {
    const CrashPoint& point = *report.point;
    text += std::string(WhenText(point.when)) + " op " + std::to_string(point.op) + " (" +
            std::string(OpKindName(point.kind)) + " " + (point.path.empty() ? "/" : point.path);
    if (!point.to.empty()) text += " -> " + point.to;
    text += ")";
  } else {
    text += "after op " + std::to_string(report.ops);
  }
  text += ": " + std::to_string(report.lost) + " of " + std::to_string(report.nodes) +
          " pending effects lost";
  if (report.torn > 0) text += ", " + std::to_string(report.torn) + " of them torn";
  text += " (plan " + report.plan;
  if (report.seed) text += ", seed " + std::to_string(*report.seed);
  return text + ")";
}

nlohmann::json ToJson(const CrashReport& report) {
  nlohmann::json out{{"epoch", report.epoch},   {"ops", report.ops},
                     {"pending", report.nodes}, {"kept", report.nodes - report.lost},
                     {"lost", report.lost},     {"torn", report.torn},
                     {"plan", report.plan},     {"tear", TearName(report.tear)},
                     {"killed", report.killed}};
  if (!report.by_plan) out["lose"] = LoseName(report.lose);
  if (report.seed) out["seed"] = *report.seed;
  if (report.point) {
    const CrashPoint& point = *report.point;
    out["point"] = {{"when", WhenText(point.when)},
                    {"op", point.op},
                    {"kind", OpKindName(point.kind)},
                    {"path", point.path}};
    if (!point.to.empty()) out["point"]["to"] = point.to;
  }
  out["text"] = Describe(report);
  return out;
}

}  // namespace tornfs::harness
