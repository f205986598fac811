#include "fusefs/fuse/change.h"

#include <cerrno>
#include <string>
#include <utility>

#include "common/fd.h"
#include "fusefs/fuse/reply.h"

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

FaultRequest DescribeForFault(const MountContext& context, const Caller& caller,
                              std::string_view operation, const Intent& intent) {
  FaultRequest request;
  request.operation = operation;
  request.pid = caller.pid;
  request.path = PathOf(context, intent.ino, intent.name);
  if (intent.to_dir != kNoIno) request.to = PathOf(context, intent.to_dir, intent.to_name);
  request.comm = CommOf(caller.pid);
  return request;
}

Fault Failure(int error) {
  Fault fault;
  fault.kind = Fault::Kind::kFail;
  fault.error = error;
  fault.aftermath = Aftermath::kKeep;
  return fault;
}

std::optional<Fault> AskForFault(MountContext& context, const FaultRequest& request) {
  if (context.resumed) return context.resumed;
  auto fault = context.faults->Ask(request);
  if (fault && fault->delay.count() > 0) {
    context.postponed = fault;
    return Failure(static_cast<int>(kPutAside));
  }
  if (fault && fault->kind == Fault::Kind::kCrash) {
    context.hook_refused = true;
    return Failure(EIO);
  }
  return fault;
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

std::optional<Fault> FaultOf(MountContext& context, const Caller& caller, const Intent& intent) {
  if (context.faults == nullptr || !intent.starts || context.quiesced) return std::nullopt;
  return AskForFault(context, DescribeForFault(context, caller, OpKindName(intent.kind), intent));
}

std::optional<Fault> FaultOfUse(MountContext& context, const Caller& caller,
                                std::string_view operation, Ino ino) {
  if (context.faults == nullptr) return std::nullopt;
  return AskForFault(context, DescribeForFault(context, caller, operation, {OpKind::kWrite, ino}));
}

std::optional<Outcome<void>> EndsRequest(MountContext& context, const Intent& intent,
                                         const std::optional<Fault>& fault) {
  if (!fault) return std::nullopt;
  const bool barrier = IsBarrier(intent.kind);
  if (fault->kind == Fault::Kind::kLie && barrier) return Outcome<void>();
  if (fault->kind != Fault::Kind::kFail) return std::nullopt;
  if (barrier && context.engine.FailBarrier(intent.ino, fault->aftermath) && context.drop_pages) {
    context.drop_pages(intent.ino);
  }
  return Refuse(fault->error);
}

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
