#include "harness/live/fault_rule.h"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <sstream>
#include <utility>
#include <vector>

#include "common/units.h"

namespace tornfs::harness {
namespace {

tl::unexpected<Error> Bad(const std::string& text) {
  return Fail(ErrorCode::kInvalid, "fault: " + text);
}

// What filesystems answer, and what programs are seldom tested with.
constexpr std::array<std::pair<std::string_view, int>, 12> kErrors{{{"EIO", EIO},
                                                                    {"ENOSPC", ENOSPC},
                                                                    {"EDQUOT", EDQUOT},
                                                                    {"EROFS", EROFS},
                                                                    {"EACCES", EACCES},
                                                                    {"EPERM", EPERM},
                                                                    {"EINTR", EINTR},
                                                                    {"EAGAIN", EAGAIN},
                                                                    {"ENOMEM", ENOMEM},
                                                                    {"EMFILE", EMFILE},
                                                                    {"EFBIG", EFBIG},
                                                                    {"ESTALE", ESTALE}}};

constexpr std::array<std::pair<std::string_view, Aftermath>, 4> kAftermaths{
    {{"ext4", Aftermath::kForget},
     {"xfs", Aftermath::kForget},
     {"btrfs", Aftermath::kRevert},
     {"keep", Aftermath::kKeep}}};

template <class Table>
auto Find(const Table& table, std::string_view name) {
  return std::ranges::find_if(table, [&](const auto& row) { return row.first == name; });
}

template <class Table>
std::string Names(const Table& table) {
  std::string names;
  for (const auto& row : table) names += (names.empty() ? "" : ", ") + std::string(row.first);
  return names;
}

Status SetFailure(std::string_view what, FaultRule& rule) {
  const std::size_t colon = std::min(what.find(':'), what.size());
  const auto error = Find(kErrors, what.substr(0, colon));
  if (error == kErrors.end()) {
    return Bad("'" + std::string(what.substr(0, colon)) + "' is none of " + Names(kErrors));
  }
  Fault fault;
  fault.error = error->second;
  if (colon < what.size()) {
    const auto aftermath = Find(kAftermaths, what.substr(colon + 1));
    if (aftermath == kAftermaths.end()) {
      return Bad("'" + std::string(what.substr(colon + 1)) + "' is none of " + Names(kAftermaths));
    }
    fault.aftermath = aftermath->second;
  }
  rule.fault = fault;
  return {};
}

Status SetEffect(std::string_view word, FaultRule& rule) {
  const std::size_t colon = std::min(word.find(':'), word.size());
  const std::string_view name = word.substr(0, colon);
  const bool has_value = colon < word.size();
  const std::string_view value = has_value ? word.substr(colon + 1) : std::string_view();
  if (name == "fail") return SetFailure(value, rule);
  if (name == "delay") {
    const auto time = ParseDuration(value);
    if (!time) return Bad(time.error().Message());
    rule.delay = *time;
    return {};
  }
  Fault fault;
  if (name == "short" || (name == "flip" && has_value)) {
    const auto amount = name == "short" ? ParseSize(value) : ParseNumber(value);
    if (!amount) return Bad(amount.error().Message());
    fault.amount = *amount;
  } else if (has_value) {
    return Bad("'" + std::string(name) + "' takes no value");
  }
  static constexpr std::array<std::pair<std::string_view, Fault::Kind>, 5> kKinds{
      {{"lie", Fault::Kind::kLie},
       {"short", Fault::Kind::kShort},
       {"flip", Fault::Kind::kFlip},
       {"zero", Fault::Kind::kZero},
       {"misdirect", Fault::Kind::kMisdirect}}};
  const auto kind = Find(kKinds, name);
  if (kind == kKinds.end()) {
    return Bad("unknown effect '" + std::string(name) + "'; known are fail, delay, " +
               Names(kKinds));
  }
  fault.kind = kind->second;
  rule.fault = fault;
  return {};
}

std::optional<OpKind> KindOf(const std::string& operation) {
  for (int kind = 0; kind < kOpKinds; ++kind) {
    if (operation == OpKindName(static_cast<OpKind>(kind))) return static_cast<OpKind>(kind);
  }
  return std::nullopt;
}

// Whether the effect means something for the operation.
Status SetOperation(const std::string& word, FaultRule& rule) {
  rule.operation = word;
  const auto kind = KindOf(word);
  const bool reads = word == "read";
  if (!kind && !reads && word != "open" && word != "access" && word != "op") {
    return Bad("unknown operation '" + word + "'");
  }
  if (!rule.fault || rule.fault->kind == Fault::Kind::kFail) return {};
  const bool writes = word == "write";
  bool fits = false;
  switch (rule.fault->kind) {
    case Fault::Kind::kLie: fits = kind && IsBarrier(*kind); break;
    case Fault::Kind::kShort:
    case Fault::Kind::kMisdirect: fits = writes; break;
    default: fits = writes || reads; break;
  }
  if (!fits) return Bad("that effect means nothing for '" + word + "'");
  return {};
}

Status SetMatches(std::string_view word, FaultRule& rule) {
  word.remove_prefix(1);
  const std::size_t dots = word.find("..");
  const auto first = ParseNumber(word.substr(0, dots));
  if (!first || *first == 0) return Bad("'#' needs a number from 1 on: #2, #2.. or #2..5");
  rule.first = rule.last = *first;
  if (dots == std::string_view::npos) return {};
  rule.last = UINT64_MAX;
  if (dots + 2 == word.size()) return {};
  const auto last = ParseNumber(word.substr(dots + 2));
  if (!last || *last < *first) return Bad("'#" + std::string(word) + "' is no range");
  rule.last = *last;
  return {};
}

std::vector<std::string> Words(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

}  // namespace

Result<FaultRule> ParseFaultRule(std::string_view text) {
  const std::vector<std::string> words = Words(text);
  if (words.size() < 2) {
    return Bad("expected 'EFFECT OPERATION [PATH] [by COMM] [#N]', got '" + std::string(text) +
               "'");
  }
  FaultRule rule;
  rule.text = text;
  Status status = SetEffect(words[0], rule);
  if (status) status = SetOperation(words[1], rule);
  std::size_t at = 2;
  if (at < words.size() && words[at] != "by" && words[at][0] != '#') rule.glob = words[at++];
  if (status && at < words.size() && words[at] == "by") {
    if (at + 1 == words.size()) return Bad("'by' needs the name of a program");
    rule.comm = words[at + 1];
    at += 2;
  }
  if (status && at < words.size() && words[at][0] == '#') status = SetMatches(words[at++], rule);
  if (!status) return tl::make_unexpected(status.error());
  if (at < words.size()) return Bad("'" + words[at] + "' is out of place");
  return rule;
}

bool FaultRule::Matches(const FaultRequest& request) const {
  if (operation != "op" && operation != request.operation) return false;
  if (!comm.empty() && comm != request.comm) return false;
  if (glob.empty()) return true;
  return fnmatch(glob.c_str(), request.path.c_str(), 0) == 0 ||
         (!request.to.empty() && fnmatch(glob.c_str(), request.to.c_str(), 0) == 0);
}

}  // namespace tornfs::harness
