#include "harness/litmus/program.h"

#include <array>
#include <charconv>

namespace tornfs::harness {
namespace {

struct CallWords {
  std::string_view name;
  LitmusCall call;
  std::size_t least;  // Arguments.
  std::size_t most;
};
constexpr std::array<CallWords, 20> kCalls{{
    {"create", LitmusCall::kCreate, 1, 1},     {"mkdir", LitmusCall::kMkdir, 1, 1},
    {"symlink", LitmusCall::kSymlink, 2, 2},   {"link", LitmusCall::kLink, 2, 2},
    {"unlink", LitmusCall::kUnlink, 1, 1},     {"rmdir", LitmusCall::kRmdir, 1, 1},
    {"rename", LitmusCall::kRename, 2, 2},     {"write", LitmusCall::kWrite, 2, 4},
    {"store", LitmusCall::kStore, 3, 3},       {"truncate", LitmusCall::kTruncate, 2, 2},
    {"allocate", LitmusCall::kAllocate, 3, 4}, {"punch", LitmusCall::kPunch, 3, 3},
    {"chmod", LitmusCall::kChmod, 2, 2},       {"copy", LitmusCall::kCopy, 2, 2},
    {"fsync", LitmusCall::kFsync, 1, 1},       {"fdatasync", LitmusCall::kFdatasync, 1, 1},
    {"sync", LitmusCall::kSync, 0, 0},         {"setxattr", LitmusCall::kSetxattr, 3, 3},
    {"close", LitmusCall::kClose, 1, 1},       {"tmpfile", LitmusCall::kTmpfile, 1, 1},
}};

std::optional<std::uint64_t> ParseCount(std::string_view text, int base = 10) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string_view> Words(std::string_view line) {
  std::vector<std::string_view> words;
  while (true) {
    const auto begin = line.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) return words;
    const auto end = std::min(line.find_first_of(" \t\r", begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    line.remove_prefix(end);
  }
}

class LitmusParser {
 public:
  explicit LitmusParser(std::string_view name) { program_.name = name; }

  Result<LitmusProgram> Parse(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      ++line_;
      if (auto took = TakeLine(line); !took) return tl::make_unexpected(took.error());
    }
    if (program_.run.empty()) return Bad("there is nothing under `run`");
    return std::move(program_);
  }

 private:
  [[nodiscard]] tl::unexpected<Error> Bad(const std::string& what) const {
    return Fail(ErrorCode::kInvalid,
                program_.name + " line " + std::to_string(line_) + ": " + what);
  }

  Status TakeLine(std::string_view line) {
    if (line.starts_with("# ") && section_ == nullptr) {
      program_.about += (program_.about.empty() ? "" : " ") + std::string(line.substr(2));
    }
    line = line.substr(0, line.find('#'));
    const auto words = Words(line);
    if (words.empty()) return {};
    const std::string_view first = words[0];
    if (words.size() == 1 && (first == "setup" || first == "run")) {
      section_ = first == "setup" ? &program_.setup : &program_.run;
      return {};
    }
    if (first == "observe") return TakeObservation(words);
    if (first == "allow") return TakeAllowed(line);
    if (first.ends_with(':')) return TakeHead(first.substr(0, first.size() - 1), words);
    if (section_ == nullptr) return Bad("a step stands under `setup` or `run`");
    return TakeStep(words);
  }

  Status TakeHead(std::string_view key, const std::vector<std::string_view>& words) {
    if (words.size() != 2) return Bad(std::string(key) + " takes one word");
    if (key == "row") {
      program_.row = words[1];
    } else if (key == "tear") {
      const auto tear = ParseTear(words[1]);
      if (!tear || *tear == Tear::kByte) return Bad("tear is none, page or sector");
      program_.tear = *tear;
    } else if (key == "crash" && (words[1] == "anywhere" || words[1] == "end")) {
      program_.at_end = words[1] == "end";
    } else {
      return Bad("unknown line; there are row, tear, crash (anywhere or end)");
    }
    return {};
  }

  Status TakeObservation(const std::vector<std::string_view>& words) {
    if (words.size() < 2) return Bad("observe what?");
    Observation observation{std::string(words[1]), {}};
    for (std::size_t i = 2; i < words.size(); ++i) {
      const std::size_t equals = words[i].find('=');
      if (equals != 1) return Bad("a letter, `=`, and what it stands for");
      const std::string_view value = words[i].substr(2);
      const bool attribute = value.starts_with("mode:") || value.starts_with("xattr:");
      const auto bytes = attribute ? std::string(value) : ParseRuns(value);
      if (!bytes) return Bad("not a text: '" + std::string(value) + "'");
      observation.letters.emplace_back(words[i].substr(0, 1), *bytes);
    }
    program_.observations.push_back(std::move(observation));
    return {};
  }

  Status TakeAllowed(std::string_view line) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return Bad("allow MODEL...: LETTERS...");
    const auto models = Words(line.substr(0, colon));
    const auto letters = Words(line.substr(colon + 1));
    for (std::size_t i = 1; i < models.size(); ++i) {
      auto& allowed = program_.allowed[std::string(models[i])];
      if (!allowed.empty()) return Bad("'" + std::string(models[i]) + "' stands twice");
      allowed = {letters.begin(), letters.end()};
    }
    return {};
  }

  Status TakeStep(const std::vector<std::string_view>& words) {
    for (const CallWords& call : kCalls) {
      if (call.name != words[0]) continue;
      if (words.size() - 1 < call.least || words.size() - 1 > call.most) {
        return Bad("wrong number of arguments of " + std::string(call.name));
      }
      if (call.call == LitmusCall::kTmpfile && section_ == &program_.setup) {
        return Bad("a file without a name does not outlast the setup");
      }
      LitmusStep step;
      step.call = call.call;
      if (words.size() > 1) step.path = words[1];
      if (auto took = TakeArguments(step, words); !took) return took;
      section_->push_back(std::move(step));
      return {};
    }
    return Bad("unknown step '" + std::string(words[0]) + "'");
  }

  Status TakeArguments(LitmusStep& step, const std::vector<std::string_view>& words) {
    const auto number = [&](std::size_t i, int base = 10) { return ParseCount(words[i], base); };
    switch (step.call) {
      case LitmusCall::kLink:
      case LitmusCall::kRename:
      case LitmusCall::kCopy: step.other = words[2]; return {};
      case LitmusCall::kSetxattr:
        step.other = words[2];
        step.bytes = words[3];
        return {};
      case LitmusCall::kSymlink:
        step.other = words[1];
        step.path = words[2];
        return {};
      case LitmusCall::kWrite:
      case LitmusCall::kStore: return TakeWrite(step, words);
      case LitmusCall::kTruncate:
      case LitmusCall::kChmod: {
        const auto value = number(2, step.call == LitmusCall::kChmod ? 8 : 10);
        if (!value) return Bad("not a number: '" + std::string(words[2]) + "'");
        step.number = *value;
        return {};
      }
      case LitmusCall::kAllocate:
      case LitmusCall::kPunch: {
        step.offset = number(2);
        const auto length = number(3);
        step.keep_size = words.size() == 5 && words[4] == "keep";
        if (!step.offset || !length || (words.size() == 5 && !step.keep_size)) {
          return Bad("F OFFSET LENGTH [keep]");
        }
        step.number = *length;
        return {};
      }
      default: return {};
    }
  }

  Status TakeWrite(LitmusStep& step, const std::vector<std::string_view>& words) {
    const auto bytes = ParseRuns(words[2]);
    if (!bytes || bytes->empty()) return Bad("not a text: '" + std::string(words[2]) + "'");
    step.bytes = *bytes;
    for (std::size_t i = 3; i < words.size(); ++i) {
      if (words[i].starts_with('@')) {
        step.offset = ParseCount(words[i].substr(1));
        if (!step.offset) return Bad("not an offset: '" + std::string(words[i]) + "'");
      } else if (words[i] == "sync" || words[i] == "dsync") {
        step.flag = words[i] == "sync" ? WriteFlag::kSync : WriteFlag::kDsync;
      } else {
        return Bad("neither @OFFSET nor sync nor dsync: '" + std::string(words[i]) + "'");
      }
    }
    if (step.call == LitmusCall::kStore && !step.offset) return Bad("store takes an @OFFSET");
    return {};
  }

  LitmusProgram program_;
  int line_ = 0;
  std::vector<LitmusStep>* section_ = nullptr;
};

}  // namespace

Result<LitmusProgram> ParseLitmus(std::string_view text, std::string_view name) {
  return LitmusParser(name).Parse(text);
}

std::optional<std::string> ParseRuns(std::string_view text) {
  std::string bytes;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    const std::string_view run = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    std::uint64_t count = 1;
    if (run.size() > 1) {
      const auto number = run[1] == '*' ? ParseCount(run.substr(2)) : std::nullopt;
      if (!number) return std::nullopt;
      count = *number;
    }
    if (run.empty() || count > kMaxLitmusBytes - bytes.size()) return std::nullopt;
    bytes.append(count, run[0] == '0' ? '\0' : run[0]);
  }
  return bytes;
}

std::string ShowRuns(std::string_view bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size();) {
    const std::size_t end = std::min(bytes.find_first_not_of(bytes[i], i), bytes.size());
    if (!text.empty()) text += ',';
    text += bytes[i] == '\0' ? '0' : bytes[i];
    if (end - i > 1) text += "*" + std::to_string(end - i);
    i = end;
  }
  return text;
}

}  // namespace tornfs::harness
