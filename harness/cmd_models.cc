// tornfs models: the persistence models, in words.
#include <boost/program_options.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "fusefs/core/model.h"
#include "harness/commands.h"
#include "harness/failure.h"

namespace tornfs::harness {
namespace {

namespace po = boost::program_options;
using Json = nlohmann::json;

// One rule of a model: what it is about, and how the model has it.
struct Rule {
  const char* name;
  const char* text;
};

std::vector<Rule> RulesOf(const Model& model) {
  const auto when = [](bool at_once) {
    return at_once ? "durable as soon as the call returns" : "durable by a barrier";
  };
  const auto whole = [](bool is) { return is ? "kept or lost whole" : "may be split"; };
  return {
      {"order", model.order == Order::kTotal ? "nothing survives unless all that came before does"
                                             : "effects survive independently of each other"},
      {"names", when(model.entries_at_once)},
      {"sizes", when(model.sizes_at_once)},
      {"attributes", when(model.attributes_at_once)},
      {"fdatasync", model.fdatasync_skips_attributes ? "leaves modes and owners pending"
                                                     : "covers modes and owners"},
      {"rename", whole(model.rename_whole)},
      {"truncate", whole(model.truncate_whole)},
      {"tearing", model.never_torn ? "no write is ever torn" : "as --tear says"},
  };
}

void PrintRule(const Rule& rule) { std::printf("%-12s %s\n", rule.name, rule.text); }

int ListModels(bool json) {
  Json list = Json::array();
  for (const Model& model : Models()) {
    if (json) {
      list.push_back({{"name", model.name}, {"about", model.about}});
    } else {
      std::printf("%-12s %s\n", std::string(model.name).c_str(), std::string(model.about).c_str());
    }
  }
  if (json) std::puts(list.dump().c_str());
  return kExitOk;
}

int ShowModel(const Model& model, bool json) {
  Json rules = Json::object();
  if (!json) {
    PrintRule({"name", std::string(model.name).c_str()});
    PrintRule({"about", std::string(model.about).c_str()});
  }
  for (const Rule& rule : RulesOf(model)) {
    rules[rule.name] = rule.text;
    if (!json) PrintRule(rule);
  }
  if (json) {
    std::puts(Json{{"name", model.name}, {"about", model.about}, {"rules", rules}}.dump().c_str());
  }
  return kExitOk;
}

int DiffModels(const Model& left, const Model& right, bool json) {
  const auto left_rules = RulesOf(left);
  const auto right_rules = RulesOf(right);
  Json differences = Json::object();
  for (std::size_t i = 0; i < left_rules.size(); ++i) {
    const std::string was = left_rules[i].text;
    const std::string is = right_rules[i].text;
    if (was == is) continue;
    differences[left_rules[i].name] = {{left.name, was}, {right.name, is}};
    if (json) continue;
    std::printf("%s\n  %-12s %s\n  %-12s %s\n", left_rules[i].name, std::string(left.name).c_str(),
                was.c_str(), std::string(right.name).c_str(), is.c_str());
  }
  if (json) std::puts(differences.dump().c_str());
  return kExitOk;
}

void DescribeModels(po::options_description&, std::vector<Positional>& positionals) {
  for (const char* name : {"show|diff", "MODEL", "MODEL"}) positionals.push_back({name, false});
}

int RunModels(const ParsedCommand& parsed) {
  const std::vector<std::string>& words = parsed.positionals;
  if (words.empty()) return ListModels(parsed.json);
  const std::size_t wanted = words[0] == "show" ? 1 : words[0] == "diff" ? 2 : 0;
  if (wanted == 0) return UsageError(parsed, "neither show nor diff: '" + words[0] + "'");
  if (words.size() != wanted + 1) {
    return UsageError(parsed, words[0] + " takes " + (wanted == 1 ? "one model" : "two models"));
  }
  std::vector<const Model*> models;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto model = FindModel(words[i]);
    if (!model) return UsageError(parsed, model.error().Message());
    models.push_back(*model);
  }
  return wanted == 1 ? ShowModel(*models[0], parsed.json)
                     : DiffModels(*models[0], *models[1], parsed.json);
}

}  // namespace

extern const Command kModelsCommand{
    "models",
    "list and explain the persistence models",
    "[show MODEL | diff MODEL MODEL]",
    "A persistence model says which effects may survive a power loss together.",
    TakesChild::kNone,
    DescribeModels,
    RunModels,
};

}  // namespace tornfs::harness
