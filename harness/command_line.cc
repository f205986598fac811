#include "harness/command_line.h"

#include <algorithm>
#include <array>
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

// The string for `sh -c`, with its first word resolved when that word is plain.
std::string ShellString(std::string_view text, const CommandContext& context) {
  const auto quoted = [](std::string_view value) { return Quote(value); };
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  std::size_t end = 0;
  while (end < text.size() && kBlanks.find(text[end]) == std::string_view::npos &&
         kShellSyntax.find(text[end]) == std::string_view::npos) {
    ++end;
  }
  const std::string_view first = text.substr(0, end);
  // A word that goes on in shell syntax ("$DIR/x", "a\ b/c") is the shell's to read.
  const bool whole = end == text.size() || kBlanks.find(text[end]) != std::string_view::npos ||
                     std::string_view("|&;<>()\n").find(text[end]) != std::string_view::npos;
  if (!whole || first.find('=') != std::string_view::npos) return Replace(text, context, quoted);
  return Quote(Resolve(first, context)) + Replace(text.substr(end), context, quoted);
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
