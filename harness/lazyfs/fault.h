// The faults and commands of LazyFS, as its configuration files and its FIFO spell them
// (docs/lazyfs-migration.md).
//
// A line of the FIFO is one command: `lazyfs::NAME` and, for faults, `::KEY=VALUE` for each
// property. All of LazyFS's commands are known, and two keys more: `occurrence=` for torn-op and
// torn-seq, which LazyFS takes from its configuration file alone.
//
// Pure functions: nothing is looked at.
#pragma once

#include <cstdint>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/result.h"

namespace tornfs::harness::lazyfs {

// Dies before or after a call, wherever its paths match; every time.
struct CrashFault {
  bool before = false;
  std::string op;
  std::string from;  // ECMAScript, found anywhere in the path; empty: any.
  std::string to;    // Of the second path of rename, link and symlink.
  std::optional<std::regex> from_regex;
  std::optional<std::regex> to_regex;
};

// Tears the `occurrence`-th write(2) to `file` and dies: of the parts, counted from 1, those of
// `persist` are durable and nothing else that was not synced.
struct TornOp {
  std::string file;
  std::uint64_t occurrence = 1;
  std::uint64_t parts = 0;           // So many of equal size; the last takes the rest. Or:
  std::vector<std::uint64_t> bytes;  // their sizes, which add up to the size of the write.
  std::vector<std::uint64_t> persist;
};

// Dies when the last write of `persist` was done in the `occurrence`-th row of writes to `file`: of
// the row, counted from 1, those of `persist` are durable. An fsync of the file ends a row.
struct TornSeq {
  std::string file;
  std::string op = "write";
  std::uint64_t occurrence = 1;
  std::vector<std::uint64_t> persist;
};

// Loses what is not synced before or after the `occurrence`-th call on `from`.
struct ClearFault {
  std::string from;
  std::string to;
  std::string op;
  bool before = false;
  std::uint64_t occurrence = 1;
  bool crash = false;
};

using Fault = std::variant<CrashFault, TornOp, TornSeq, ClearFault>;

enum class Order : std::uint8_t { kClearCache, kCheckpoint, kUsage, kReport, kHelp };

using Command = std::variant<Order, CrashFault, TornOp, TornSeq>;

// "clear-cache", "torn-op", ...: the name in a line, whatever follows; "" if there is none.
[[nodiscard]] std::string CommandName(std::string_view line);

// Errors: kNotFound for a command that LazyFS does not have, kInvalid for a fault that makes no
// sense; the text has one line for each mistake.
[[nodiscard]] Result<Command> ParseCommand(std::string_view line);

// Whether the fault makes sense; fills in what is derived from its text. Errors: as ParseCommand.
[[nodiscard]] Status Complete(CrashFault& fault);
[[nodiscard]] Status Complete(const TornOp& fault);
[[nodiscard]] Status Complete(const TornSeq& fault);
[[nodiscard]] Status Complete(const ClearFault& fault);

// The op of LazyFS that the name of an op or of a use of ours (fusefs/fuse/fault_hook.h) stands
// for; "" for those it has no name for.
[[nodiscard]] std::string_view OpOf(std::string_view operation);

}  // namespace tornfs::harness::lazyfs
