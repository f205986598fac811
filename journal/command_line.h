// Parsing of the `journal` command line.
#pragma once

#include <functional>
#include <string>

#include "journal/cli.h"

namespace tornfs::journal::cli {

// What to do: run `command` on `request`, or print `text` (a help page; standard output) or a usage
// error (one line; standard error).
struct Invocation {
  int (*command)(const Request&) = nullptr;
  Request request;
  std::string help;
  std::string usage_error;
};

// Never guesses: an unknown or abbreviated command, option or rule is a usage error.
[[nodiscard]] Invocation ParseCommandLine(int argc, const char* const* argv);

}  // namespace tornfs::journal::cli
