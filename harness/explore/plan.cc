#include "harness/explore/plan.h"

#include <charconv>

namespace tornfs::harness {
namespace {

constexpr std::string_view kPrefix = "t1-";
constexpr std::size_t kHistoryDigits = 16;

template <class Number>
bool TakeNumber(std::string_view& text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool TakeDot(std::string_view& text) {
  if (!text.starts_with('.')) return false;
  text.remove_prefix(1);
  return true;
}

bool ParseStep(std::string_view word, Step& step) {
  if (word.empty()) return false;
  const char kind = word.front();
  word.remove_prefix(1);
  step.kind = kind == 'k' ? Step::Kind::kKill : Step::Kind::kPower;
  if (kind != 'k' && kind != 'p') return false;
  if (!TakeNumber(word, step.point.cut) || !TakeDot(word)) return false;
  if (!TakeNumber(word, step.point.promises)) return false;
  if (kind == 'k') return word.empty();
  if (!TakeDot(word) || word.empty()) return false;
  step.choice = word;
  return true;
}

}  // namespace

std::string FormatPlan(const Plan& plan) {
  std::string text(kPrefix);
  text += plan.history;
  for (const Step& step : plan.steps) {
    const bool kill = step.kind == Step::Kind::kKill;
    text += kill ? "/k" : "/p";
    text += std::to_string(step.point.cut) + "." + std::to_string(step.point.promises);
    if (!kill) text += "." + step.choice;
  }
  return text;
}

Result<Plan> ParsePlan(std::string_view text) {
  const auto bad = Fail(ErrorCode::kInvalid, "not a plan: '" + std::string(text) + "'");
  if (!text.starts_with(kPrefix)) return bad;
  text.remove_prefix(kPrefix.size());
  Plan plan;
  plan.history = text.substr(0, text.find('/'));
  if (plan.history.size() != kHistoryDigits) return bad;
  text.remove_prefix(plan.history.size());
  while (!text.empty()) {
    text.remove_prefix(1);
    const std::string_view word = text.substr(0, text.find('/'));
    Step step;
    if (!ParseStep(word, step)) return bad;
    plan.steps.push_back(std::move(step));
    text.remove_prefix(word.size());
  }
  if (plan.steps.empty()) return bad;
  return plan;
}

}  // namespace tornfs::harness
