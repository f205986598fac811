// What the program prints: plain lines, or one JSON object per line with --json. Everything goes
// out by write(2), so a line that was printed is a line that was delivered.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "journal/error.h"

namespace tornfs::journal::cli {

// "ack 3 00ab...\n" or {"ack":{"op":3,"checksum":"00ab..."}}.
[[nodiscard]] std::string OpLine(std::string_view verb, std::uint64_t op, std::uint64_t checksum,
                                 bool json);

// "purged 3 17\n" or {"purged":[3,17]}: what is not about one op.
[[nodiscard]] std::string NumbersLine(std::string_view verb, std::uint64_t a, std::uint64_t b,
                                      bool json);

// Prints whole lines to standard output, for commands that go on afterwards.
[[nodiscard]] Status PrintLines(const std::string& lines);

// Prints to standard output. Returns 0, or 1 when it could not be written.
int Print(std::string_view text);

// Prints "journal: <what>" or {"error":{...}} to standard error and returns the exit code.
int PrintError(const Error& error, bool json);
int PrintUsageError(std::string_view what);

// The verdict of verify, on standard output: the sentence, or {"good":...,"finding":...}.
int PrintVerdict(bool good, std::string_view sentence, bool json);

}  // namespace tornfs::journal::cli
