#include "harness/live/fault_table.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "common/log.h"

namespace tornfs::harness {
namespace {

constexpr std::size_t kMostKept = 100;

}  // namespace

void FaultTable::Add(FaultRule rule) {
  rules_.push_back({std::move(rule), 0, 0});
  Attach();
}

std::size_t FaultTable::Clear() {
  const std::size_t count = rules_.size();
  cleared_ = std::exchange(rules_, {});
  Attach();
  return count;
}

void FaultTable::SetFirst(FaultHook* first) {
  first_ = first;
  Attach();
}

void FaultTable::Attach() {
  server_.SetFaultHook(rules_.empty() && first_ == nullptr ? nullptr : this);
}

void FaultTable::Note(const FaultRule& rule, const FaultRequest& request) {
  ++injected_;
  std::string text = "injected '" + rule.text + "' into " + std::string(request.operation) + " " +
                     (request.path.empty() ? "/" : request.path);
  if (!request.comm.empty()) text += " by " + request.comm;
  LogInfo(text);
  last_.push_back(std::move(text));
  if (last_.size() > kMostKept) last_.pop_front();
}

std::optional<Fault> FaultTable::Ask(const FaultRequest& request) {
  if (first_ != nullptr) {
    if (auto first = first_->Ask(request)) return first;
  }
  std::optional<Fault> fault;
  std::chrono::milliseconds delay{0};
  for (Counted& each : rules_) {
    if (!each.rule.Matches(request)) continue;
    ++each.matches;
    if (each.matches < each.rule.first || each.matches > each.rule.last) continue;
    if (each.rule.fault && fault) continue;  // One thing goes wrong at a time.
    ++each.injected;
    Note(each.rule, request);
    delay += each.rule.delay;
    if (each.rule.fault) fault = each.rule.fault;
  }
  if (delay.count() > 0 && !fault) fault = Fault{.kind = Fault::Kind::kNone};
  if (fault) fault->delay = delay;
  return fault;
}

nlohmann::json FaultTable::ToJson() const {
  const auto list = [](const std::vector<Counted>& counted) {
    nlohmann::json rules = nlohmann::json::array();
    for (const Counted& each : counted) {
      rules.push_back(
          {{"rule", each.rule.text}, {"matches", each.matches}, {"injected", each.injected}});
    }
    return rules;
  };
  return {{"rules", list(rules_)},
          {"cleared", list(cleared_)},
          {"injected", injected_},
          {"last", last_}};
}

}  // namespace tornfs::harness
