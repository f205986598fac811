// tornfs litmus: small programs, and what each persistence model allows a crash to leave of them.
#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/fd.h"
#include "harness/commands.h"
#include "harness/failure.h"
#include "harness/litmus/golden.h"
#include "harness/litmus/outcome.h"

namespace tornfs::harness {
namespace {

namespace po = boost::program_options;
using Json = nlohmann::json;

// What one model makes of one program.
struct LitmusResult {
  const Model* model = nullptr;
  OutcomeSet outcomes;
  std::set<std::string> letters;
  std::string mismatch;  // Empty if all is as expected, or nothing is.
};

std::string Join(const std::set<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

Result<LitmusResult> Judge(const LitmusProgram& program, const Model& model,
                           const GoldenTable* golden) {
  auto outcomes = RunLitmus(program, model);
  if (!outcomes) return tl::make_unexpected(outcomes.error());
  LitmusResult result{&model, std::move(*outcomes), {}, ""};
  for (const auto& tree : result.outcomes) result.letters.insert(LettersOf(program, tree));
  const auto allowed = program.allowed.find(model.name);
  if (allowed != program.allowed.end() && allowed->second != result.letters) {
    result.mismatch = "the program says " + Join(allowed->second);
    return result;
  }
  if (golden == nullptr) return result;
  const auto expected = golden->find({program.name, model.name});
  if (expected == golden->end()) {
    result.mismatch = "the golden file has no line for it";
  } else if (expected->second.count != result.outcomes.size() ||
             expected->second.fingerprint != Fingerprint(result.outcomes)) {
    result.mismatch =
        fmt::format("the golden file has {} outcomes, or others", expected->second.count);
  }
  return result;
}

Json ToJson(const LitmusResult& result) {
  Json json{{"model", result.model->name},
            {"letters", result.letters},
            {"count", result.outcomes.size()},
            {"fingerprint", fmt::format("{:016x}", Fingerprint(result.outcomes))},
            {"expected", result.mismatch.empty()}};
  for (const auto& tree : result.outcomes) json["outcomes"].push_back(ShowOutcome(tree));
  return json;
}

void Print(const LitmusResult& result, bool with_outcomes) {
  std::puts(fmt::format("  {:16} {:5}  {}", result.model->name, result.outcomes.size(),
                        Join(result.letters))
                .c_str());
  if (!result.mismatch.empty()) std::puts(("    NOT AS EXPECTED: " + result.mismatch).c_str());
  if (!with_outcomes) return;
  for (const auto& tree : result.outcomes) std::puts(("    " + ShowOutcome(tree)).c_str());
}

void DescribeLitmus(po::options_description& options, std::vector<Positional>& positionals) {
  options.add_options()("model", po::value<std::vector<std::string>>()->value_name("M"),
                        "only this model: a name that `tornfs models` lists, or a file; again for "
                        "more");
  options.add_options()("outcomes", po::bool_switch(), "print every tree that is allowed");
  positionals.push_back({"FILE", false});
}

struct LitmusRequest {
  LitmusSet set;
  std::vector<const Model*> models;
  bool built_in = true;  // The programs are; then they are compared with the golden file.
};

Result<LitmusRequest> ReadRequest(const ParsedCommand& parsed) {
  LitmusRequest request;
  if (parsed.options.count("model") != 0) {
    for (const auto& name : parsed.options["model"].as<std::vector<std::string>>()) {
      const auto model = FindModel(name);
      if (!model) return tl::make_unexpected(model.error());
      request.models.push_back(*model);
    }
  } else {
    for (const Model& model : Models()) request.models.push_back(&model);
  }
  auto built_in = BuiltInLitmus();
  if (!built_in) return tl::make_unexpected(built_in.error());
  request.set = std::move(*built_in);
  if (parsed.positionals.empty()) return request;
  const std::string& name = parsed.positionals[0];
  std::vector<LitmusProgram> chosen;
  for (LitmusProgram& program : request.set.programs) {
    if (program.name == name || program.row == name) chosen.push_back(std::move(program));
  }
  if (chosen.empty()) {
    const auto text = ReadFile(name);
    if (!text) return tl::make_unexpected(text.error());
    auto program = ParseLitmus(*text, std::filesystem::path(name).stem().string());
    if (!program) return tl::make_unexpected(program.error());
    chosen.push_back(std::move(*program));
    request.built_in = false;
  }
  request.set.programs = std::move(chosen);
  return request;
}

int RunLitmusCommand(const ParsedCommand& parsed) {
  const auto request = ReadRequest(parsed);
  if (!request) return ReportFailure(parsed, request.error());
  const bool all = parsed.positionals.empty();
  const bool with_outcomes = parsed.options["outcomes"].as<bool>();
  Json programs = Json::array();
  std::size_t runs = 0;
  std::size_t mismatches = 0;
  for (const LitmusProgram& program : request->set.programs) {
    Json models = Json::array();
    bool titled = false;
    for (const Model* model : request->models) {
      const bool compare = request->built_in && FindModel(model->name).has_value();
      const auto result = Judge(program, *model, compare ? &request->set.golden : nullptr);
      if (!result) return ReportFailure(parsed, result.error());
      ++runs;
      if (!result->mismatch.empty()) ++mismatches;
      if (parsed.json) {
        models.push_back(ToJson(*result));
      } else if (!all || with_outcomes || !result->mismatch.empty()) {
        if (!titled) std::puts((program.name + ": " + program.about).c_str());
        titled = true;
        Print(*result, with_outcomes);
      }
    }
    programs.push_back({{"program", program.name}, {"models", std::move(models)}});
  }
  if (parsed.json) {
    std::puts(Json{{"programs", std::move(programs)}, {"runs", runs}, {"mismatches", mismatches}}
                  .dump()
                  .c_str());
  } else if (all) {
    std::puts(fmt::format("{} programs, {} models: {} sets of outcomes, {} not as expected",
                          request->set.programs.size(), request->models.size(), runs, mismatches)
                  .c_str());
  }
  return mismatches == 0 ? kExitOk : kExitViolation;
}

}  // namespace

extern const Command kLitmusCommand{
    "litmus",
    "show what each persistence model allows small programs to lose",
    "[--model M] [--outcomes] [FILE]",
    "A litmus program is a few calls. Every crash that a model allows is tried, and what is left "
    "is\n"
    "shown as letters: of a file O is its old contents and N the new ones, A absent, E empty, 0 "
    "only\n"
    "NULs, G bytes that the disk held before, P anything else. FILE is a program of your own (how "
    "to\n"
    "write one: docs/crash-models.md), or the name or row of a built-in one. Without FILE every\n"
    "built-in program is run and compared with what is expected of it.",
    TakesChild::kNone,
    DescribeLitmus,
    RunLitmusCommand,
};

}  // namespace tornfs::harness
