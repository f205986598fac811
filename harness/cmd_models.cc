// tornfs models: the persistence models, in words.
#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "fusefs/core/model.h"
#include "fusefs/core/model_rules.h"
#include "harness/commands.h"
#include "harness/failure.h"

namespace tornfs::harness {
namespace {

namespace po = boost::program_options;
using Json = nlohmann::json;

constexpr std::size_t kLineWidth = 96;

void PrintLine(const std::string& line) { std::puts(line.c_str()); }

// `text` in lines that are not too long, each behind `indent` blanks.
void PrintWrapped(std::string_view text, std::size_t indent) {
  std::string line;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty() && indent + line.size() + 1 + word.size() > kLineWidth) {
      PrintLine(std::string(indent, ' ') + line);
      line.clear();
    }
    line += (line.empty() ? "" : " ") + std::string(word);
  }
  if (!line.empty()) PrintLine(std::string(indent, ' ') + line);
}

const RuleAnswer& AnswerOf(const Model& model, const RuleWords& rule) {
  return rule.answers[model.At(rule.rule).answer];
}

Json RuleJson(const Model& model, const RuleWords& rule) {
  const RuleSetting& setting = model.At(rule.rule);
  const RuleAnswer& answer = AnswerOf(model, rule);
  return {{"answer", answer.word},
          {"meaning", answer.meaning},
          {"evidence", EvidenceName(setting.evidence)},
          {"why", setting.why}};
}

int ListModels(bool json) {
  Json list = Json::array();
  for (const Model& model : Models()) {
    if (json) {
      list.push_back({{"name", model.name}, {"about", model.about}});
    } else {
      PrintLine(fmt::format("{:16} {}", model.name, model.about));
    }
  }
  if (json) PrintLine(list.dump());
  return kExitOk;
}

int ShowModel(const Model& model, bool json) {
  if (json) {
    Json rules = Json::object();
    for (const RuleWords& rule : RuleVocabulary()) {
      rules[std::string(rule.name)] = RuleJson(model, rule);
    }
    PrintLine(Json{{"name", model.name}, {"about", model.about}, {"rules", rules}}.dump());
    return kExitOk;
  }
  PrintLine(model.name);
  PrintWrapped(model.about, 2);
  for (const RuleWords& rule : RuleVocabulary()) {
    const RuleSetting& setting = model.At(rule.rule);
    const RuleAnswer& answer = AnswerOf(model, rule);
    PrintLine(
        fmt::format("\n{} = {} [{}]", rule.name, answer.word, EvidenceName(setting.evidence)));
    PrintWrapped(fmt::format("{}: {}.", rule.question, answer.meaning), 2);
    if (!setting.why.empty()) PrintWrapped(setting.why, 4);
  }
  return kExitOk;
}

int DiffModels(const Model& left, const Model& right, bool json) {
  Json differences = Json::object();
  for (const RuleWords& rule : RuleVocabulary()) {
    if (left.At(rule.rule).answer == right.At(rule.rule).answer) continue;
    differences[std::string(rule.name)] = {{left.name, RuleJson(left, rule)},
                                           {right.name, RuleJson(right, rule)}};
    if (json) continue;
    PrintLine(fmt::format("{}: {}", rule.name, rule.question));
    for (const Model* model : {&left, &right}) {
      PrintLine(fmt::format("  {} = {} [{}]", model->name, AnswerOf(*model, rule).word,
                            EvidenceName(model->At(rule.rule).evidence)));
      PrintWrapped(AnswerOf(*model, rule).meaning, 4);
    }
  }
  if (json) PrintLine(differences.dump());
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
    "A persistence model says which effects may survive a power loss together. MODEL is a name "
    "from\n"
    "the list, or a file of your own (the format: docs/crash-models.md). `show` prints each rule "
    "with\n"
    "what it means, where the knowledge comes from, and why; `diff` prints what differs.",
    TakesChild::kNone,
    DescribeModels,
    RunModels,
};

}  // namespace tornfs::harness
