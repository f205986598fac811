#include "journal/output.h"

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "common/fd.h"
#include "common/hash.h"
#include "journal/cli.h"

namespace tornfs::journal::cli {
namespace {

// Paths need not be UTF-8; what is not becomes U+FFFD.
std::string JsonLine(const nlohmann::ordered_json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string OpLine(std::string_view verb, std::uint64_t op, std::uint64_t checksum, bool json) {
  std::string line;
  if (json) {
    line = R"({")" + std::string(verb) + R"(":{"op":)" + std::to_string(op) + R"(,"checksum":")" +
           Hex16(checksum) + "\"}}\n";
  } else {
    line = std::string(verb) + " " + std::to_string(op) + " " + Hex16(checksum) + "\n";
  }
  return line;
}

std::string NumbersLine(std::string_view verb, std::uint64_t a, std::uint64_t b, bool json) {
  std::string line(json ? R"({")" : "");
  line += verb;
  line += json ? R"(":[)" : " ";
  line += std::to_string(a);
  line += json ? ',' : ' ';
  line += std::to_string(b);
  line += json ? "]}\n" : "\n";
  return line;
}

Status PrintLines(const std::string& lines) {
  const auto written = WriteAll(STDOUT_FILENO, lines);
  if (!written) return IoFailure(written.error().sys_errno, "write standard output");
  return {};
}

int Print(std::string_view text) {
  const auto written = WriteAll(STDOUT_FILENO, text);
  if (written) return kExitOk;
  return PrintError(Error{ErrorKind::kIo, written.error().sys_errno, "write standard output"},
                    false);
}

int PrintError(const Error& error, bool json) {
  std::string line = "journal: " + error.Message() + "\n";
  if (json) {
    line =
        JsonLine({{"error", {{"code", ErrorKindName(error.kind)}, {"message", error.Message()}}}});
  }
  // There is nowhere left to report that standard error is gone.
  (void)WriteAll(STDERR_FILENO, line);
  return kExitRefused;
}

int PrintUsageError(std::string_view what) {
  (void)WriteAll(STDERR_FILENO, "journal: " + std::string(what) + "\n");
  return kExitUsage;
}

int PrintVerdict(bool good, std::string_view sentence, bool json) {
  const int printed =
      Print(json ? JsonLine({{"good", good}, {good ? "summary" : "finding", sentence}})
                 : std::string(sentence) + "\n");
  return good ? printed : kExitRefused;
}

}  // namespace tornfs::journal::cli
