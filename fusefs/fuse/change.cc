#include "fusefs/fuse/change.h"

#include <string>

#include "common/fd.h"

namespace tornfs {

namespace {

std::string PathOf(const MountContext& context, Ino dir, std::string_view name) {
  std::string path = context.engine.current().PathOf(dir);
  if (name.empty()) return path;
  if (!path.empty()) path += '/';
  return path.append(name);
}

std::string CommOf(pid_t tid) {
  if (tid <= 0) return {};
  constexpr std::size_t kLongest = 64;
  auto comm = ReadFile("/proc/" + std::to_string(tid) + "/comm", kLongest);
  if (!comm) return {};
  if (comm->ends_with('\n')) comm->pop_back();
  return std::move(*comm);
}

TriggerRequest Describe(const MountContext& context, const Caller& caller, const Intent& intent,
                        OpNumber number) {
  TriggerRequest request;
  request.kind = intent.kind;
  request.number = number;
  request.pid = caller.pid;
  request.path = PathOf(context, intent.ino, intent.name);
  if (intent.to_dir != kNoIno) request.to = PathOf(context, intent.to_dir, intent.to_name);
  request.comm = CommOf(caller.pid);
  return request;
}

Outcome<void> Refused(MountContext& context) {
  ++context.counters.refused_changes;
  return Refuse(EIO);
}

// Asks the hook. The owner may have ended the epoch meanwhile, or let another request end it.
Outcome<void> Consult(MountContext& context, When when, const TriggerRequest& request) {
  const std::uint64_t epoch = context.nodes.epoch();
  const bool goes_on = context.hook == nullptr || context.hook->Consult(when, request);
  if (!goes_on) context.hook_refused = true;
  if (!goes_on || context.nodes.epoch() != epoch) return Refused(context);
  return {};
}

}  // namespace

Outcome<void> BeforeChange(MountContext& context, const Caller& caller, const Intent& intent) {
  if (context.quiesced) return Refused(context);
  if (context.hook == nullptr || !intent.starts) return {};
  const TriggerRequest request = Describe(context, caller, intent, context.engine.next_op());
  if (const auto may = Consult(context, When::kBefore, request); !may) return may;
  if (!IsBarrier(intent.kind)) return {};
  return Consult(context, When::kDuring, request);
}

Outcome<void> AfterChange(MountContext& context, const Caller& caller, const Intent& intent) {
  if (!intent.ends) return {};
  const TriggerRequest request = Describe(context, caller, intent, context.engine.next_op() - 1);
  if (!IsBarrier(intent.kind)) {
    if (const auto may = Consult(context, When::kDuring, request); !may) return may;
  }
  return Consult(context, When::kAfter, request);
}

}  // namespace tornfs
