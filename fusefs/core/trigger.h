// Trigger: where a crash is to happen, as a person writes it.
//
//   WHEN KIND [GLOB] [by COMM] [#N]      before fsync wal/* #3
//                                        after write
//                                        during rename by sqlite3
//   WHEN op #NUMBER                      before op #57
//
//   WHEN   before, during or after
//   KIND   a name of OpKindName, or `op` for any
//   GLOB   fnmatch(3) on the path below the root of the mount; `*` matches `/` too. A rename or
//          link matches by either path.
//   COMM   name of the calling thread, as in /proc/TID/comm
//   N      the N-th match fires, 1 if left out
//
// `op #NUMBER` without glob and comm names the op of that number, not the N-th op.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/result.h"
#include "fusefs/core/types.h"

namespace tornfs {

enum class When : std::uint8_t {
  kBefore,  // Nothing of the op has been done.
  kDuring,  // Its effects are issued and optional; a barrier has made nothing durable yet.
  kAfter,   // Done, and not yet answered.
};

struct Trigger {
  When when = When::kBefore;
  std::optional<OpKind> kind;  // Empty: any.
  std::string glob;            // Empty: any path.
  std::string comm;            // Empty: any caller.
  std::uint64_t count = 1;
  OpNumber number = 0;  // Not 0: the op of this number, and nothing else counts.
};

// Errors: kInvalid; the text says which word is wrong and what would be right.
[[nodiscard]] Result<Trigger> ParseTrigger(std::string_view text);

// The text that ParseTrigger turns into `trigger`.
[[nodiscard]] std::string FormatTrigger(const Trigger& trigger);

// A request that a trigger is held against.
struct TriggerRequest {
  OpKind kind = OpKind::kWrite;
  OpNumber number = 0;  // The op it is or will be.
  pid_t pid = 0;        // The thread that asks; 0 for the kernel.
  std::string path;     // From the root of the mount, "" for the root itself.
  std::string to;       // rename, link: the new path. Otherwise empty.
  std::string comm;     // Empty if the caller is gone or is the kernel.
};

// A trigger with its count.
class ArmedTrigger {
 public:
  explicit ArmedTrigger(Trigger trigger) : trigger_(std::move(trigger)) {}

  // To be asked once for each request at each `when`; true for the match that fires, once.
  [[nodiscard]] bool Fires(When when, const TriggerRequest& request);

  [[nodiscard]] const Trigger& trigger() const { return trigger_; }
  [[nodiscard]] std::uint64_t matches() const { return matches_; }
  [[nodiscard]] bool fired() const { return fired_; }

 private:
  [[nodiscard]] bool Matches(const TriggerRequest& request) const;

  Trigger trigger_;
  std::uint64_t matches_ = 0;
  bool fired_ = false;
};

}  // namespace tornfs
