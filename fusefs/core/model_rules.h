// The vocabulary of model files: every rule, its answers, and what they mean.
#pragma once

#include <span>
#include <string_view>

#include "fusefs/core/model.h"

namespace tornfs {

struct RuleAnswer {
  std::string_view word;     // In model files.
  std::string_view meaning;  // A sentence for people.
};

struct RuleWords {
  Rule rule;
  std::string_view name;      // In model files.
  std::string_view question;  // What the rule is about.
  std::span<const RuleAnswer> answers;
};

// In the order of `enum class Rule`.
[[nodiscard]] std::span<const RuleWords> RuleVocabulary();

[[nodiscard]] std::string_view EvidenceName(Evidence evidence);

// Reads a model file:
//
//   # a comment
//   model: NAME
//   about: one sentence
//   rank: N
//   like: MODEL            (optional: the rules start as those of MODEL)
//
//   RULE = ANSWER [EVIDENCE]
//       why, in any number of indented lines
//
// A rule may stand once; one that is absent is as in `like`, or as in `posix`. `known` are the
// models that `like` may name. Errors: kInvalid, with `origin` and the line in the text.
[[nodiscard]] Result<Model> ParseModel(std::string_view text, std::string_view origin,
                                       std::span<const Model> known);

}  // namespace tornfs
