// Change: the one way in which handlers change state. It keeps the order of things around the
// engine's call: quiescence, the hook's three questions, and the end of the world in between.
#pragma once

#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "fusefs/core/errno.h"
#include "fusefs/core/types.h"
#include "fusefs/fuse/fault_hook.h"
#include "fusefs/fuse/mount_context.h"

namespace tornfs {

// What a request is about to do, for the hook.
struct Intent {
  OpKind kind;
  Ino ino;  // What it acts on; with a name, the directory.
  std::string_view name = {};
  Ino to_dir = kNoIno;  // rename, link: where the new name goes.
  std::string_view to_name = {};
  // A write(2) may come in parts: whether this is its first and its last.
  bool starts = true;
  bool ends = true;
};

// What the owner wants to go wrong with a request; null is the answer of a mount without faults.
// kCrash has been taken care of: the request is to be answered EIO, like any kFail.
[[nodiscard]] std::optional<Fault> FaultOf(MountContext& context, const Caller& caller,
                                           const Intent& intent);
// The same for a request that changes nothing: "read", "open", "access".
[[nodiscard]] std::optional<Fault> FaultOfUse(MountContext& context, const Caller& caller,
                                              std::string_view operation, Ino ino);
// Whether the fault leaves nothing to be done: the request is answered with what this is.
[[nodiscard]] std::optional<Outcome<void>> EndsRequest(MountContext& context, const Intent& intent,
                                                       const std::optional<Fault>& fault);

// Errors: EIO if no change may be made now.
[[nodiscard]] Outcome<void> BeforeChange(MountContext& context, const Caller& caller,
                                         const Intent& intent);
// Requires that the engine's call succeeded and made an op. Errors: EIO if it must not be answered.
[[nodiscard]] Outcome<void> AfterChange(MountContext& context, const Caller& caller,
                                        const Intent& intent);

// Does what `call` does to the engine, if that may be done. Faults have been seen to.
template <class Call>
[[nodiscard]] auto ChangeUnharmed(MountContext& context, const Caller& caller, const Intent& intent,
                                  Call&& call) -> decltype(call()) {
  if (const auto may = BeforeChange(context, caller, intent); !may) {
    return tl::make_unexpected(may.error());
  }
  const OpNumber before = context.engine.next_op();
  auto result = std::forward<Call>(call)();
  if (!result || context.hook == nullptr) return result;
  if (context.engine.next_op() == before && intent.starts) return result;  // Nothing changed.
  if (const auto may = AfterChange(context, caller, intent); !may) {
    return tl::make_unexpected(may.error());
  }
  return result;
}

// Does what `call` does to the engine, if that may be done and nothing is to go wrong.
template <class Call>
[[nodiscard]] auto Change(MountContext& context, const Caller& caller, const Intent& intent,
                          Call&& call) -> decltype(call()) {
  if (context.faults != nullptr) {
    if (const auto end = EndsRequest(context, intent, FaultOf(context, caller, intent))) {
      if constexpr (std::is_same_v<decltype(call()), Outcome<void>>) return *end;
      if (!*end) return tl::make_unexpected(end->error());
    }
  }
  return ChangeUnharmed(context, caller, intent, std::forward<Call>(call));
}

// Whether programs must not create, rename or remove that name: EPERM.
[[nodiscard]] inline bool IsReserved(Ino dir, std::string_view name) {
  return SpecialFiles::Find(dir, name).has_value();
}

}  // namespace tornfs
