// Reading model files. The format: model_rules.h.
#include <charconv>

#include "fusefs/core/model_rules.h"

namespace tornfs {
namespace {

std::string_view Trim(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

class ModelParser {
 public:
  ModelParser(std::string_view origin, std::span<const Model> known)
      : origin_(origin), known_(known) {}

  Result<Model> Parse(std::string_view text) {
    model_.source = text;
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      ++line_;
      const bool indented = line.starts_with(' ') || line.starts_with('\t');
      line = Trim(line);
      if (line.empty() || line.starts_with('#')) continue;
      const Status took = indented ? TakeReason(line) : TakeLine(line);
      if (!took) return tl::make_unexpected(took.error());
    }
    if (model_.name.empty()) return Bad("there is no line `model: NAME`");
    return std::move(model_);
  }

 private:
  [[nodiscard]] tl::unexpected<Error> Bad(const std::string& what) const {
    return Fail(ErrorCode::kInvalid,
                std::string(origin_) + " line " + std::to_string(line_) + ": " + what);
  }

  // A rule's or the about line's continuation.
  Status TakeReason(std::string_view line) {
    if (last_ == nullptr) return Bad("an indented line belongs to nothing");
    if (!last_->empty()) *last_ += ' ';
    *last_ += line;
    return {};
  }

  Status TakeLine(std::string_view line) {
    const std::size_t colon = line.find(':');
    const std::size_t equals = line.find('=');
    if (equals != std::string_view::npos && (colon == std::string_view::npos || equals < colon)) {
      return TakeRule(Trim(line.substr(0, equals)), Trim(line.substr(equals + 1)));
    }
    if (colon == std::string_view::npos) return Bad("neither `KEY: TEXT` nor `RULE = ANSWER`");
    return TakeHead(Trim(line.substr(0, colon)), Trim(line.substr(colon + 1)));
  }

  Status TakeHead(std::string_view key, std::string_view value) {
    last_ = nullptr;
    if (key == "model") {
      model_.name = value;
    } else if (key == "about") {
      model_.about = value;
      last_ = &model_.about;
    } else if (key == "rank") {
      const auto [end, error] =
          std::from_chars(value.data(), value.data() + value.size(), model_.rank);
      if (error != std::errc() || end != value.data() + value.size()) {
        return Bad("rank is no number");
      }
    } else if (key == "like") {
      for (const Model& each : known_) {
        if (each.name != value) continue;
        if (seen_ != std::array<bool, kRules>{}) return Bad("`like` stands before all rules");
        model_.rules = each.rules;
        return {};
      }
      return Bad("there is no model '" + std::string(value) + "' to be like");
    } else {
      return Bad("unknown key '" + std::string(key) + "': model, about, rank, like");
    }
    return {};
  }

  Status TakeRule(std::string_view name, std::string_view value) {
    const std::size_t bracket = value.find('[');
    if (bracket == std::string_view::npos || !value.ends_with(']')) {
      return Bad("a rule ends with [guaranteed], [measured], [documented] or [heuristic]");
    }
    const std::string_view word = Trim(value.substr(0, bracket));
    const std::string_view tag = Trim(value.substr(bracket + 1, value.size() - bracket - 2));
    for (const RuleWords& rule : RuleVocabulary()) {
      if (rule.name != name) continue;
      const auto index = static_cast<std::size_t>(rule.rule);
      if (seen_[index]) return Bad("'" + std::string(name) + "' stands twice");
      seen_[index] = true;
      RuleSetting& setting = model_.rules[index];
      setting = {};
      last_ = &setting.why;
      return TakeAnswer(rule, word, tag, setting);
    }
    return Bad("unknown rule '" + std::string(name) + "'");
  }

  Status TakeAnswer(const RuleWords& rule, std::string_view word, std::string_view tag,
                    RuleSetting& setting) {
    std::string known;
    bool found = false;
    for (std::size_t i = 0; i < rule.answers.size(); ++i) {
      if (rule.answers[i].word == word) {
        setting.answer = static_cast<std::uint8_t>(i);
        found = true;
      }
      known += (i == 0 ? "" : ", ") + std::string(rule.answers[i].word);
    }
    if (!found) return Bad(std::string(rule.name) + " is one of " + known);
    for (std::uint8_t i = 0; i <= static_cast<std::uint8_t>(Evidence::kHeuristic); ++i) {
      const auto evidence = static_cast<Evidence>(i);
      if (EvidenceName(evidence) != tag) continue;
      setting.evidence = evidence;
      return {};
    }
    return Bad("unknown evidence '" + std::string(tag) + "'");
  }

  std::string_view origin_;
  std::span<const Model> known_;
  int line_ = 0;
  Model model_;
  std::array<bool, kRules> seen_{};
  std::string* last_ = nullptr;  // What indented lines are added to.
};

}  // namespace

Result<Model> ParseModel(std::string_view text, std::string_view origin,
                         std::span<const Model> known) {
  return ModelParser(origin, known).Parse(text);
}

}  // namespace tornfs
