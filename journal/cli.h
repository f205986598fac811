// The `journal` program: its request, its exit codes and one function per command.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "journal/recovery.h"

namespace tornfs::journal::cli {

inline constexpr int kExitOk = 0;
inline constexpr int kExitRefused = 1;  // Damaged, refused, an I/O error, or a broken promise.
inline constexpr int kExitUsage = 2;

// A parsed command line. A command reads only the fields its options can set.
struct Request {
  std::string directory;
  Options options;
  bool json = false;
  std::uint64_t group = 1;  // Records per durable group.
  bool length_prefixed = false;
  std::string promises;          // A path, or empty.
  std::uint64_t op = 0;          // checkpoint; certify, where 0 means the head.
  std::uint64_t checkpoint = 0;  // append: what to checkpoint at the end; 0 for nothing.
  std::uint64_t from = 0;        // truncate.
  std::uint32_t view = 0;        // certify.
  bool messages = false;         // append: records are batches of messages.
  bool referenced = false;       // append: their bodies go to segments that this program writes.
  std::optional<std::uint64_t> floor;     // purge: absent means the head.
  std::uint64_t generation = 0;           // purge.
  std::optional<std::uint64_t> checksum;  // reset.
  std::optional<std::uint64_t> offset;    // segments: absent means where the messages end.
  std::uint64_t segment_bytes = 0;        // segments.
  std::string other;                      // backup, restore: the other folder.
  std::uint64_t records = 0;              // bench.
  std::uint64_t record_bytes = 0;         // bench.
  std::uint64_t threads = 0;              // bench.
  std::uint64_t delay_us = 0;             // bench.
};

// Puts a change that was interrupted back, if there is one. Call before opening for writing.
[[nodiscard]] Status RecoverInstall(const Request& request);

// The folder whose content counts: the frozen one while a change is unfinished.
[[nodiscard]] std::string ReadableFolder(const Request& request);

int RunAppend(const Request& request);
int RunRecover(const Request& request);
int RunCertify(const Request& request);
int RunCheckpoint(const Request& request);
int RunTruncate(const Request& request);
int RunPurge(const Request& request);
int RunReset(const Request& request);
int RunSegments(const Request& request);
int RunBackup(const Request& request);
int RunRestore(const Request& request);
int RunBench(const Request& request);
int RunVerify(const Request& request);
int RunRead(const Request& request);
int RunDump(const Request& request);
int RunStat(const Request& request);

}  // namespace tornfs::journal::cli
