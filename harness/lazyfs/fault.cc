#include "harness/lazyfs/fault.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "common/units.h"

namespace tornfs::harness::lazyfs {
namespace {

constexpr std::string_view kPrefix = "lazyfs::";
constexpr std::array<std::string_view, 11> kOps{"unlink", "truncate", "fsync",  "write",
                                                "create", "access",   "open",   "read",
                                                "rename", "link",     "symlink"};

bool HasTwoPaths(std::string_view op) { return op == "rename" || op == "link" || op == "symlink"; }

bool Known(std::string_view op) { return std::ranges::find(kOps, op) != kOps.end(); }

class Mistakes {
 public:
  void Add(const std::string& text) { text_ += (text_.empty() ? "" : "\n") + text; }
  [[nodiscard]] Status Verdict() const {
    if (text_.empty()) return {};
    return Fail(ErrorCode::kInvalid, text_);
  }

 private:
  std::string text_;
};

std::vector<std::string_view> Split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> pieces;
  while (true) {
    const std::size_t end = text.find(separator);
    pieces.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return pieces;
    text.remove_prefix(end + separator.size());
  }
}

// "1,3,4". Empty if it is not that.
std::vector<std::uint64_t> NumbersOf(std::string_view text) {
  std::vector<std::uint64_t> numbers;
  for (const std::string_view piece : Split(text, ",")) {
    const auto number = ParseNumber(piece);
    if (!number) return {};
    numbers.push_back(*number);
  }
  return numbers;
}

void CheckPersist(const std::vector<std::uint64_t>& persist, Mistakes& mistakes) {
  if (persist.empty()) mistakes.Add("persist should be a list of numbers separated by commas");
  if (std::ranges::count(persist, 0U) > 0) mistakes.Add("persist counts from 1");
}

using Properties = std::vector<std::pair<std::string_view, std::string_view>>;

// What follows the name of the command.
Properties PropertiesOf(std::string_view line) {
  Properties properties;
  const auto words = Split(line.substr(kPrefix.size()), "::");
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::size_t equals = std::min(words[i].find('='), words[i].size());
    const std::size_t value = std::min(equals + 1, words[i].size());
    properties.emplace_back(words[i].substr(0, equals), words[i].substr(value));
  }
  return properties;
}

void SetOccurrence(std::string_view value, std::uint64_t& occurrence, Mistakes& mistakes) {
  const auto number = ParseNumber(value);
  if (!number || *number == 0) mistakes.Add("occurrence should be a number from 1 on");
  occurrence = number.value_or(1);
}

// The command, unless something is wrong with its line or with the fault as a whole.
template <class Fault>
Result<Command> Finish(Fault fault, Mistakes& mistakes) {
  if (const Status complete = Complete(fault); !complete) {
    mistakes.Add(complete.error().context);
  }
  if (const Status verdict = mistakes.Verdict(); !verdict) {
    return tl::make_unexpected(verdict.error());
  }
  return Command(std::move(fault));
}

Result<Command> ParseCrash(std::string_view line) {
  CrashFault fault;
  Mistakes mistakes;
  std::string timing;
  for (const auto& [key, value] : PropertiesOf(line)) {
    if (key == "timing") timing = value;
    if (key == "op") fault.op = value;
    if (key == "from_rgx" && value != "none") fault.from = value;
    if (key == "to_rgx" && value != "none") fault.to = value;
  }
  if (timing != "before" && timing != "after") {
    mistakes.Add("timing should be 'before' or 'after'");
  }
  fault.before = timing == "before";
  return Finish(std::move(fault), mistakes);
}

Result<Command> ParseTornOp(std::string_view line) {
  TornOp fault;
  Mistakes mistakes;
  for (const auto& [key, value] : PropertiesOf(line)) {
    if (key == "file") {
      fault.file = value;
    } else if (key == "parts") {
      fault.parts = ParseNumber(value).value_or(0);
      if (fault.parts == 0) mistakes.Add("parts should be a number");
    } else if (key == "parts_bytes") {
      fault.bytes = NumbersOf(value);
      if (fault.bytes.empty()) {
        mistakes.Add("parts_bytes should be a list of numbers separated by commas");
      }
    } else if (key == "persist") {
      fault.persist = NumbersOf(value);
    } else if (key == "occurrence") {
      SetOccurrence(value, fault.occurrence, mistakes);
    } else if (key != "return") {
      mistakes.Add("unknown attribute");
    }
  }
  return Finish(std::move(fault), mistakes);
}

Result<Command> ParseTornSeq(std::string_view line) {
  TornSeq fault;
  Mistakes mistakes;
  for (const auto& [key, value] : PropertiesOf(line)) {
    if (key == "file") {
      fault.file = value;
    } else if (key == "op") {
      fault.op = value;
    } else if (key == "persist") {
      fault.persist = NumbersOf(value);
    } else if (key == "occurrence") {
      SetOccurrence(value, fault.occurrence, mistakes);
    } else if (key != "return") {
      mistakes.Add("unknown attribute");
    }
  }
  return Finish(std::move(fault), mistakes);
}

// libstdc++ reads the numbers of {N,M} and \N without a look at how large they get: too many digits
// overflow there.
bool NumbersAreSmall(std::string_view regex) {
  constexpr std::size_t kMostDigits = 9;
  for (std::size_t at = regex.find_first_of("{\\"); at != std::string_view::npos;
       at = regex.find_first_of("{\\", at + 1)) {
    std::size_t end = at;
    do {
      const std::size_t begin = end + 1;
      end = std::min(regex.find_first_not_of("0123456789", begin), regex.size());
      if (end - begin > kMostDigits) return false;
    } while (regex[at] == '{' && end < regex.size() && regex[end] == ',');
  }
  return true;
}

void SetRegex(const std::string& text, std::optional<std::regex>& regex, Mistakes& mistakes) {
  if (text.empty()) return;
  if (!NumbersAreSmall(text)) {
    mistakes.Add("'" + text + "' has a number of more than 9 digits");
    return;
  }
  try {
    regex.emplace(text);
  } catch (const std::regex_error& error) {
    mistakes.Add("'" + text + "' is no regular expression: " + error.what());
  }
}

}  // namespace

Status Complete(CrashFault& fault) {
  Mistakes mistakes;
  if (!Known(fault.op)) mistakes.Add("operation not available");
  if (HasTwoPaths(fault.op)) {
    if (fault.from.empty() && fault.to.empty()) {
      mistakes.Add("should specify 'from_rgx' and/or 'to_rgx'");
    }
  } else if (fault.from.empty() || !fault.to.empty()) {
    mistakes.Add("should specify 'from_rgx' regex (and not 'to_rgx')");
  }
  SetRegex(fault.from, fault.from_regex, mistakes);
  SetRegex(fault.to, fault.to_regex, mistakes);
  return mistakes.Verdict();
}

Status Complete(const TornOp& fault) {
  Mistakes mistakes;
  if (fault.file.empty()) mistakes.Add("file not specified");
  if ((fault.parts == 0) == fault.bytes.empty()) {
    mistakes.Add("should specify 'parts' or 'parts_bytes', not both");
  }
  CheckPersist(fault.persist, mistakes);
  const std::uint64_t parts = fault.bytes.empty() ? fault.parts : fault.bytes.size();
  if (std::ranges::any_of(fault.persist, [&](std::uint64_t part) { return part > parts; })) {
    mistakes.Add("persist names a part that there is not");
  }
  return mistakes.Verdict();
}

Status Complete(const TornSeq& fault) {
  Mistakes mistakes;
  if (fault.file.empty()) mistakes.Add("file not specified");
  if (fault.op != "write") mistakes.Add("operation not available");
  CheckPersist(fault.persist, mistakes);
  return mistakes.Verdict();
}

Status Complete(const ClearFault& fault) {
  Mistakes mistakes;
  if (fault.from.empty()) mistakes.Add("'from' not specified");
  if (!Known(fault.op)) mistakes.Add("operation not available");
  if (!fault.to.empty() && !HasTwoPaths(fault.op)) mistakes.Add("should not specify 'to'");
  return mistakes.Verdict();
}

std::string CommandName(std::string_view line) {
  if (!line.starts_with(kPrefix)) return {};
  line.remove_prefix(kPrefix.size());
  return std::string(line.substr(0, line.find("::")));
}

Result<Command> ParseCommand(std::string_view line) {
  static constexpr std::array<std::pair<std::string_view, Order>, 5> kOrders{
      {{"clear-cache", Order::kClearCache},
       {"cache-checkpoint", Order::kCheckpoint},
       {"display-cache-usage", Order::kUsage},
       {"unsynced-data-report", Order::kReport},
       {"help", Order::kHelp}}};
  const std::string name = CommandName(line);
  for (const auto& [known, order] : kOrders) {
    if (name == known) return Command(order);
  }
  if (name == "crash") return ParseCrash(line);
  if (name == "torn-op") return ParseTornOp(line);
  if (name == "torn-seq") return ParseTornSeq(line);
  return Fail(ErrorCode::kNotFound, "command unknown '" + std::string(line) + "'");
}

std::string_view OpOf(std::string_view operation) {
  if (operation == "mknod") return "create";
  if (operation == "fdatasync") return "fsync";
  const auto found = std::ranges::find(kOps, operation);
  return found == kOps.end() ? std::string_view() : *found;
}

}  // namespace tornfs::harness::lazyfs
