#include "fusefs/core/trigger.h"

#include <fnmatch.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "common/units.h"

namespace tornfs {

namespace {

std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> words;
  std::size_t at = 0;
  while (true) {
    const std::size_t begin = text.find_first_not_of(" \t\n", at);
    if (begin == std::string_view::npos) return words;
    at = std::min(text.find_first_of(" \t\n", begin), text.size());
    words.emplace_back(text.substr(begin, at - begin));
  }
}

std::string_view WhenName(When when) {
  switch (when) {
    case When::kBefore: return "before";
    case When::kDuring: return "during";
    case When::kAfter: return "after";
  }
  return "";
}

std::optional<When> WhenOf(std::string_view word) {
  for (const When when : {When::kBefore, When::kDuring, When::kAfter}) {
    if (word == WhenName(when)) return when;
  }
  return std::nullopt;
}

// The kinds as a list for an error text.
std::string KnownKinds() {
  std::string names = "op";
  for (int kind = 0; kind < kOpKinds; ++kind) {
    names += ", ";
    names += OpKindName(static_cast<OpKind>(kind));
  }
  return names;
}

Status SetKind(const std::string& word, Trigger& trigger) {
  if (word == "op") return {};
  for (int kind = 0; kind < kOpKinds; ++kind) {
    if (word != OpKindName(static_cast<OpKind>(kind))) continue;
    trigger.kind = static_cast<OpKind>(kind);
    return {};
  }
  return Fail(ErrorCode::kInvalid,
              "trigger: unknown operation '" + word + "'; known are " + KnownKinds());
}

Status SetCount(const std::string& word, Trigger& trigger) {
  const Result<std::uint64_t> count = ParseNumber(std::string_view(word).substr(1));
  if (!count || *count == 0) {
    return Fail(ErrorCode::kInvalid, "trigger: '" + word + "' is no count; write #1, #2, ...");
  }
  const bool names_op = !trigger.kind && trigger.glob.empty() && trigger.comm.empty();
  if (!names_op) {
    trigger.count = *count;
    return {};
  }
  if (*count >= kNever) {
    return Fail(ErrorCode::kInvalid, "trigger: op number '" + word + "' is too large");
  }
  trigger.number = static_cast<OpNumber>(*count);
  return {};
}

}  // namespace

Result<Trigger> ParseTrigger(std::string_view text) {
  const std::vector<std::string> words = Words(text);
  if (words.size() < 2) {
    return Fail(ErrorCode::kInvalid,
                "trigger: expected 'before|during|after OPERATION [PATH] [by COMM] [#N]', got '" +
                    std::string(text) + "'");
  }
  Trigger trigger;
  const std::optional<When> when = WhenOf(words[0]);
  if (!when) {
    return Fail(ErrorCode::kInvalid,
                "trigger: '" + words[0] + "' is not one of before, during, after");
  }
  trigger.when = *when;
  if (Status status = SetKind(words[1], trigger); !status) {
    return tl::make_unexpected(status.error());
  }
  std::size_t at = 2;
  if (at < words.size() && words[at] != "by" && words[at][0] != '#') trigger.glob = words[at++];
  if (at < words.size() && words[at] == "by") {
    if (at + 1 == words.size()) {
      return Fail(ErrorCode::kInvalid, "trigger: 'by' needs the name of a program");
    }
    trigger.comm = words[at + 1];
    at += 2;
  }
  if (at < words.size() && words[at][0] == '#') {
    if (Status status = SetCount(words[at++], trigger); !status) {
      return tl::make_unexpected(status.error());
    }
  }
  if (at < words.size()) {
    return Fail(ErrorCode::kInvalid, "trigger: '" + words[at] +
                                         "' is out of place; the order is OPERATION [PATH] "
                                         "[by COMM] [#N]");
  }
  return trigger;
}

std::string FormatTrigger(const Trigger& trigger) {
  std::string text(WhenName(trigger.when));
  text += ' ';
  text += trigger.kind ? OpKindName(*trigger.kind) : "op";
  if (!trigger.glob.empty()) text += " " + trigger.glob;
  if (!trigger.comm.empty()) text += " by " + trigger.comm;
  if (trigger.number != 0) {
    text += " #" + std::to_string(trigger.number);
  } else if (trigger.count != 1) {
    text += " #" + std::to_string(trigger.count);
  }
  return text;
}

bool ArmedTrigger::Matches(const TriggerRequest& request) const {
  if (trigger_.number != 0) return request.number == trigger_.number;
  if (trigger_.kind && request.kind != *trigger_.kind) return false;
  if (!trigger_.comm.empty() && request.comm != trigger_.comm) return false;
  if (trigger_.glob.empty()) return true;
  const char* glob = trigger_.glob.c_str();
  if (fnmatch(glob, request.path.c_str(), 0) == 0) return true;
  return !request.to.empty() && fnmatch(glob, request.to.c_str(), 0) == 0;
}

bool ArmedTrigger::Fires(When when, const TriggerRequest& request) {
  if (fired_ || when != trigger_.when || !Matches(request)) return false;
  ++matches_;
  fired_ = matches_ == trigger_.count;
  return fired_;
}

}  // namespace tornfs
