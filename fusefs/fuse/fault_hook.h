// FaultHook: how the owner of a mount makes single requests fail, lie, or do something else than
// they were asked to.
//
// For every request that changes state, makes something durable, reads a file or opens one, the
// server asks the hook before anything is done, and carries out the fault it answers:
//
//   kFail       the answer is `error`; of a barrier, what was to become durable fares as
//               `aftermath` says
//   kLie        a barrier answers success and makes nothing durable
//   kShort      a write(2) writes no more than `amount` bytes
//   kFlip       bit `amount` of the data read or written, counted modulo its length, is the other
//   kZero       the first sector of 512 bytes of the data is all zero
//   kMisdirect  a write goes 4096 bytes further than asked; what lay where it should stays
//   kCrash      the answer is EIO, and Hook::Refused is called after it (hook.h)
//
// A fault that makes no sense for a request (kShort for an unlink) leaves it alone. With a delay
// the request is put aside for that long, and others are served meanwhile; when its epoch ends it
// is answered at once.
//
// Each request asked about costs its path and the caller's name: leave the hook null when nothing
// is to go wrong.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fusefs/core/fault.h"
#include "fusefs/core/types.h"

namespace tornfs {

struct Fault {
  enum class Kind : std::uint8_t { kNone, kFail, kLie, kShort, kFlip, kZero, kMisdirect, kCrash };
  Kind kind = Kind::kFail;
  int error = 0;
  Aftermath aftermath = Aftermath::kForget;
  std::uint64_t amount = 0;
  std::chrono::milliseconds delay{0};
};

struct FaultRequest {
  std::string_view operation;  // OpKindName, or "read", "open", "access".
  pid_t pid = 0;               // The thread that asks; 0 for the kernel.
  std::string path;            // From the root of the mount, "" for the root itself.
  std::string to;              // rename, link: the new path. Otherwise empty.
  std::string comm;            // Empty if the caller is gone or is the kernel.
};

class FaultHook {
 public:
  virtual ~FaultHook() = default;
  // What is to go wrong with this request. `request` is valid during the call.
  [[nodiscard]] virtual std::optional<Fault> Ask(const FaultRequest& request) = 0;
};

}  // namespace tornfs
