#include "harness/explore/outcome.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

namespace tornfs::harness {
namespace {

// Counters that are added up, by the name in the file.
constexpr std::pair<const char*, std::uint64_t ExploreOutcome::*> kCounters[] = {
    {"units", &ExploreOutcome::units},
    {"all_units", &ExploreOutcome::all_units},
    {"states", &ExploreOutcome::states},
    {"tried", &ExploreOutcome::tried},
    {"known", &ExploreOutcome::known},
    {"uncounted", &ExploreOutcome::uncounted},
    {"leaves", &ExploreOutcome::leaves},
    {"shared", &ExploreOutcome::shared},
    {"audited", &ExploreOutcome::audited},
    {"overdecided", &ExploreOutcome::overdecided},
    {"distinct_good", &ExploreOutcome::distinct_good},
    {"runs", &ExploreOutcome::runs},
    {"violations", &ExploreOutcome::violations},
    {"windows", &ExploreOutcome::windows},
    {"whole", &ExploreOutcome::whole},
    {"cannot_judge", &ExploreOutcome::cannot_judge},
    {"stragglers", &ExploreOutcome::stragglers},
    {"left_outside", &ExploreOutcome::left_outside}};

std::uint64_t AddSaturated(std::uint64_t a, std::uint64_t b) {
  return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

nlohmann::json KindToJson(const ExploreOutcome::Kind& kind) {
  nlohmann::json failing = nlohmann::json::array();
  for (const auto& [unit, plans] : kind.failing) failing.push_back({unit, plans});
  return {{"finding", FindingToJson(kind.finding)},
          {"unit", kind.unit},
          {"order", kind.order},
          {"states", kind.states},
          {"failing", std::move(failing)}};
}

void AddKind(const std::string& signature, const ExploreOutcome::Kind& kind,
             ExploreOutcome& whole) {
  auto& known = whole.findings[signature];
  known.failing.insert(kind.failing.begin(), kind.failing.end());
  known.states = AddSaturated(known.states, kind.states);
  if (!known.finding.id.empty() && known.unit <= kind.unit) return;
  known.finding = kind.finding;
  known.unit = kind.unit;
  known.order = kind.order;
}

void AddCounters(const ExploreOutcome& shard, ExploreOutcome& whole) {
  for (const auto& [name, counter] : kCounters) {
    whole.*counter = AddSaturated(whole.*counter, shard.*counter);
  }
  whole.legal += shard.legal;
  if (shard.cannot_judge_unit < whole.cannot_judge_unit) {
    whole.cannot_judge_unit = shard.cannot_judge_unit;
    whole.cannot_judge_why = shard.cannot_judge_why;
  }
  whole.concurrent = whole.concurrent || shard.concurrent;
  whole.nothing_to_judge = whole.nothing_to_judge || shard.nothing_to_judge;
  whole.interrupted = whole.interrupted || shard.interrupted;
  whole.out_of_time = whole.out_of_time || shard.out_of_time;
  if (!whole.error) whole.error = shard.error;
  whole.elapsed = std::max(whole.elapsed, shard.elapsed);
}

}  // namespace

void LimitKinds(ExploreOutcome& outcome) {
  std::vector<std::tuple<bool, std::uint64_t, std::uint64_t, std::string>> in_order;
  for (const auto& [signature, kind] : outcome.findings) {
    in_order.emplace_back(kind.finding.id.empty(), kind.unit, kind.order, signature);
  }
  std::ranges::sort(in_order);
  for (std::size_t i = 0; i < in_order.size(); ++i) {
    const auto& [missing, unit, order, signature] = in_order[i];
    if (i < kMaxKinds && !missing) continue;
    outcome.more_kinds[signature] =
        AddSaturated(outcome.more_kinds[signature], outcome.findings[signature].states);
    outcome.findings.erase(signature);
  }
}

std::vector<Plan> FailingPlans(const ExploreOutcome::Kind& kind) {
  std::vector<Plan> plans;
  for (const auto& [unit, texts] : kind.failing) {
    for (const std::string& text : texts) {
      if (auto plan = ParsePlan(text)) plans.push_back(std::move(*plan));
    }
  }
  return plans;
}

nlohmann::json OutcomeToJson(const ExploreOutcome& outcome) {
  nlohmann::json json = {{"shard", outcome.shard.index},
                         {"shards", outcome.shard.count},
                         {"strategy", StrategyName(outcome.strategy)},
                         {"difference", outcome.difference},
                         {"legal", outcome.legal.ToString()},
                         {"concurrent", outcome.concurrent},
                         {"cannot_judge_why", outcome.cannot_judge_why},
                         {"cannot_judge_unit", outcome.cannot_judge_unit},
                         {"nothing_to_judge", outcome.nothing_to_judge},
                         {"interrupted", outcome.interrupted},
                         {"out_of_time", outcome.out_of_time},
                         {"error", outcome.error ? outcome.error->Message() : ""},
                         {"elapsed_ms", outcome.elapsed.count()},
                         {"more_kinds", outcome.more_kinds}};
  for (const auto& [name, counter] : kCounters) json[name] = outcome.*counter;
  json["findings"] = nlohmann::json::object();
  for (const auto& [signature, kind] : outcome.findings) {
    json["findings"][signature] = KindToJson(kind);
  }
  return json;
}

Result<ExploreOutcome> OutcomeFromJson(const nlohmann::json& json) {
  ExploreOutcome outcome;
  try {
    json.at("shard").get_to(outcome.shard.index);
    json.at("shards").get_to(outcome.shard.count);
    auto strategy = ParseStrategy(json.at("strategy").get<std::string>());
    if (!strategy) return tl::make_unexpected(strategy.error());
    outcome.strategy = *strategy;
    json.at("difference").get_to(outcome.difference);
    outcome.legal = BigCount::Parse(json.at("legal").get<std::string>());
    json.at("concurrent").get_to(outcome.concurrent);
    json.at("cannot_judge_why").get_to(outcome.cannot_judge_why);
    json.at("cannot_judge_unit").get_to(outcome.cannot_judge_unit);
    json.at("nothing_to_judge").get_to(outcome.nothing_to_judge);
    json.at("interrupted").get_to(outcome.interrupted);
    json.at("out_of_time").get_to(outcome.out_of_time);
    const auto error = json.at("error").get<std::string>();
    if (!error.empty()) outcome.error = Error{ErrorCode::kIo, 0, error};
    outcome.elapsed = std::chrono::milliseconds(json.at("elapsed_ms").get<std::int64_t>());
    json.at("more_kinds").get_to(outcome.more_kinds);
    for (const auto& [name, counter] : kCounters) json.at(name).get_to(outcome.*counter);
    for (const auto& [signature, kind] : json.at("findings").items()) {
      auto finding = FindingFromJson(kind.at("finding"));
      if (!finding) return tl::make_unexpected(finding.error());
      auto& into = outcome.findings[signature];
      into.finding = std::move(*finding);
      kind.at("unit").get_to(into.unit);
      kind.at("order").get_to(into.order);
      kind.at("states").get_to(into.states);
      for (const auto& each : kind.at("failing")) {
        into.failing[each.at(0).get<std::uint64_t>()] = each.at(1).get<std::vector<std::string>>();
      }
    }
  } catch (const nlohmann::json::exception& error) {
    return Fail(ErrorCode::kCorrupt, std::string("not the outcome of a shard: ") + error.what());
  }
  return outcome;
}

Result<ExploreOutcome> Merge(const std::vector<ExploreOutcome>& shards) {
  ExploreOutcome whole;
  std::set<std::uint64_t> seen;
  for (const ExploreOutcome& shard : shards) {
    if (shard.shard.count != shards.size() || !seen.insert(shard.shard.index).second) {
      return Fail(ErrorCode::kInvalid,
                  "shard " + std::to_string(shard.shard.index + 1) + "/" +
                      std::to_string(shard.shard.count) + " is none of, or twice among, " +
                      std::to_string(shards.size()) + " that make up one exploration");
    }
    if (shard.strategy != shards.front().strategy) {
      return Fail(ErrorCode::kInvalid,
                  "not every shard was explored by the same strategy (" +
                      std::string(StrategyName(shard.strategy)) + ", " +
                      std::string(StrategyName(shards.front().strategy)) +
                      "): lazy exploration ended in one; give --strategy systematic to all");
    }
  }
  whole.strategy = shards.front().strategy;
  whole.difference = shards.front().difference;
  for (const ExploreOutcome& shard : shards) {
    AddCounters(shard, whole);
    for (const auto& [signature, kind] : shard.findings) AddKind(signature, kind, whole);
  }
  for (const ExploreOutcome& shard : shards) {
    for (const auto& [signature, states] : shard.more_kinds) {
      const auto found = whole.findings.find(signature);
      std::uint64_t& into =
          found == whole.findings.end() ? whole.more_kinds[signature] : found->second.states;
      into = AddSaturated(into, states);
    }
  }
  LimitKinds(whole);
  return whole;
}

}  // namespace tornfs::harness
