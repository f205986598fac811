#include "harness/command_line.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>

namespace tornfs::harness {
namespace {

constexpr std::string_view kBlanks = " \t";
constexpr std::string_view kShellSyntax = "|&;<>()$`\\\"'*?[]#~!{}\n";

// Commands that exist in a shell only. Those that are programs as well (true, test, echo) are not
// listed.
constexpr std::array<std::string_view, 18> kShellCommands{
    ".",      ":",   "cd",    "command", "eval", "exec",  "exit",   "export", "read",
    "return", "set", "shift", "times",   "trap", "umask", "ulimit", "unset",  "wait"};

std::string Quote(std::string_view value) {
  if (value.find_first_of(kShellSyntax) == std::string_view::npos &&
      value.find_first_of(kBlanks) == std::string_view::npos) {
    return std::string(value);
  }
  std::string out = "'";
  for (const char c : value) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

// Replaces every placeholder by what `form` makes of its value. A value is not looked through
// again.
template <class Form>
std::string Replace(std::string_view text, const CommandContext& context, Form form) {
  const std::array<std::pair<std::string_view, std::string_view>, 2> values{
      {{"{mount}", context.mount}, {"{promises}", context.promises}}};
  std::string out;
  while (!text.empty()) {
    const auto* hit = std::find_if(values.begin(), values.end(), [&](const auto& value) {
      return text.starts_with(value.first);
    });
    if (hit != values.end()) {
      out += form(hit->second);
      text.remove_prefix(hit->first.size());
    } else {
      out += text.front();
      text.remove_prefix(1);
    }
  }
  return out;
}

std::string ReplaceVerbatim(std::string_view text, const CommandContext& context) {
  return Replace(text, context, [](std::string_view value) { return std::string(value); });
}

// `name` as seen from the caller's directory.
std::string Resolve(std::string_view name, const CommandContext& context) {
  if (name.find('/') == std::string_view::npos || name.starts_with('/')) return std::string(name);
  while (name.starts_with("./")) {
    name.remove_prefix(2);
    name.remove_prefix(std::min(name.find_first_not_of('/'), name.size()));
  }
  return context.origin + (context.origin.ends_with('/') ? "" : "/") + std::string(name);
}

std::vector<std::string_view> SplitOnBlanks(std::string_view text) {
  std::vector<std::string_view> words;
  for (;;) {
    const std::size_t begin = text.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos) return words;
    text.remove_prefix(begin);
    const std::size_t end = std::min(text.find_first_of(kBlanks), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

bool NeedsShell(std::string_view text, std::string_view first_word) {
  const CommandContext nothing;
  const std::string bare = ReplaceVerbatim(text, nothing);
  return bare.find_first_of(kShellSyntax) != std::string::npos ||
         first_word.find('=') != std::string_view::npos ||
         std::find(kShellCommands.begin(), kShellCommands.end(), first_word) !=
             kShellCommands.end();
}

constexpr std::string_view kWordEnds = " \t|&;<>()\n";

// The word that a shell would read at the start of a text.
struct ShellWord {
  std::size_t length = 0;              // As written.
  std::optional<std::string> literal;  // What it means, if there is nothing to expand in it.
};

ShellWord ReadWord(std::string_view text) {
  constexpr std::string_view kExpanded = "$`*?[]~#!{}";
  std::string literal;
  char quote = 0;
  std::size_t i = 0;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == 0 && kWordEnds.find(c) != std::string_view::npos) break;
    if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (quote == '\'') {
      literal += c;
    } else if (c == '\\' && quote == 0 && i + 1 < text.size() && text[i + 1] != '\n') {
      literal += text[++i];
    } else if (c == '\\' || kExpanded.find(c) != std::string_view::npos) {
      return {};
    } else {
      literal += c;
    }
  }
  if (quote != 0) return {};
  return {i, std::move(literal)};
}

bool IsAssignment(std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos || equals == 0) return false;
  return std::ranges::all_of(word.substr(0, equals), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  });
}

// The string for `sh -c`, with the name of its first command resolved.
std::string ShellString(std::string_view text, const CommandContext& context) {
  const auto quoted = [](std::string_view value) { return Quote(value); };
  std::string before;
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
    const ShellWord word = ReadWord(text);
    const std::string_view raw = text.substr(0, word.length);
    if (!word.literal || word.length == 0) return before + Replace(text, context, quoted);
    text.remove_prefix(word.length);
    if (!IsAssignment(raw)) {
      const std::string resolved = Resolve(*word.literal, context);
      // A word that means itself stays as it was written: quoting would hide a keyword.
      before += resolved == *word.literal ? std::string(raw) : Quote(resolved);
      return before + Replace(text, context, quoted);
    }
    before += std::string(raw) + " ";
  }
}

}  // namespace

Result<std::vector<std::string>> ParseCommandString(std::string_view text,
                                                    const CommandContext& context) {
  const std::vector<std::string_view> words = SplitOnBlanks(text);
  if (words.empty()) return Fail(ErrorCode::kInvalid, "the command is empty");
  if (NeedsShell(text, words.front())) {
    return std::vector<std::string>{"/bin/sh", "-c", ShellString(text, context)};
  }
  return PrepareArguments({words.begin(), words.end()}, context);
}

Result<std::vector<std::string>> PrepareArguments(std::vector<std::string> words,
                                                  const CommandContext& context) {
  if (words.empty() || words.front().empty()) {
    return Fail(ErrorCode::kInvalid, "the command is empty");
  }
  for (std::string& word : words) word = ReplaceVerbatim(word, context);
  words.front() = Resolve(words.front(), context);
  return words;
}

}  // namespace tornfs::harness
