// From the words a user wrote (--setup CMD, --check CMD, -- WORKLOAD...) to an argument vector.
//
// Rules
//   * A CMD string without shell syntax is split on blanks and executed directly; any other is
//     given to `/bin/sh -c`. Shell syntax is one of  | & ; < > ( ) $ ` \ " ' * ? [ ] # ~ ! { }  or
//     a newline, a first word with `=` in it, or a first word that only a shell knows (`exit`,
//     `cd`, `:` and the like, as make(1) does).
//   * `{promises}` and `{mount}` are replaced before that decision and are not shell syntax. A
//   value
//     that contains blanks or shell syntax stays one word: inside `/bin/sh -c` it is put in single
//     quotes.
//   * A command name that contains `/` and is relative names a file below `origin`, the directory
//     the user stood in; the program itself is started elsewhere. In a shell string this holds for
//     the first word, or the first behind assignments ("X=1 ./check"), quoted or not, unless the
//     shell has something to expand there ("$DIR/check").
//
// Pure functions: no file is looked at.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace tornfs::harness {

// What a command line is completed with. All absolute paths.
struct CommandContext {
  std::string origin;    // The caller's working directory.
  std::string mount;     // Replaces {mount}.
  std::string promises;  // Replaces {promises}.
};

// A CMD string. Errors: kInvalid when there is no word in it.
[[nodiscard]] Result<std::vector<std::string>> ParseCommandString(std::string_view text,
                                                                  const CommandContext& context);

// The words behind "--": already split, so only the replacements and the name's resolution apply.
// Errors: kInvalid when `words` is empty or its first word is.
[[nodiscard]] Result<std::vector<std::string>> PrepareArguments(std::vector<std::string> words,
                                                                const CommandContext& context);

}  // namespace tornfs::harness
