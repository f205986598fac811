#include "harness/live/crasher.h"

#include <utility>

#include "common/log.h"

namespace tornfs::harness {

Result<CrashReport> Crasher::CrashNow(const CrashOptions& options) {
  if (crashing_) return Fail(ErrorCode::kBusy, "a crash is under way");
  crashing_ = true;
  if (options.kill) victims_.Kill();
  if (observer_.struck) observer_.struck();
  return Finish([&](Engine& engine) { return LosePower(engine, options); }, options.kill,
                std::nullopt);
}

void Crasher::Arm(Trigger trigger, CrashOptions options) {
  armed_ = Armed{ArmedTrigger(std::move(trigger)), std::move(options)};
  UpdateHook();
}

bool Crasher::Disarm() {
  const bool was_armed = armed_.has_value();
  armed_.reset();
  if (!crashing_) UpdateHook();
  return was_armed;
}

void Crasher::SetTrap(Trap* trap) {
  trap_ = trap;
  UpdateHook();
}

void Crasher::UpdateHook() {
  server_.SetHook(armed_ || trap_ != nullptr || crashing_ ? this : nullptr);
}

bool Crasher::Consult(When when, const TriggerRequest& request) {
  if (crashing_) return request.kind == OpKind::kWriteback;
  const bool armed = armed_ && armed_->trigger.Fires(when, request);
  sprung_ = !armed && trap_ != nullptr && trap_->Springs(when, request);
  if (!armed && !sprung_) return true;
  crashing_ = true;
  fired_ = CrashPoint{when, request.kind, request.number, request.path, request.to};
  if (armed) {
    fired_options_ = std::exchange(armed_, std::nullopt)->options;
    if (fired_options_.kill) victims_.Kill();
  }
  if (observer_.struck) observer_.struck();
  return false;
}

void Crasher::SpringTrap() {
  if (crashing_) return;
  crashing_ = sprung_ = true;
  if (observer_.struck) observer_.struck();
}

void Crasher::Refused() {
  if (!fired_ && !sprung_) return;  // A request that came while the crash was under way.
  const auto point = std::exchange(fired_, std::nullopt);
  if (std::exchange(sprung_, false)) {
    trap_strikes_ = true;
    const auto report = Finish([this](Engine& engine) { return trap_->Lose(engine); },
                               /*kill=*/false, point);
    trap_->Sprung(report);
    return;
  }
  const CrashOptions options = fired_options_;
  const auto report =
      Finish([&](Engine& engine) { return LosePower(engine, options); }, options.kill, point);
  if (!report) LogError("the armed crash failed: " + report.error().Message());
}

Result<CrashReport> Crasher::Finish(const Loss& lose, bool kill,
                                    const std::optional<CrashPoint>& point) {
  // Whoever lives through a trap must not be served once more from the tree that is lost, as
  // pulling would; nothing that it would bring could survive there.
  const bool trap = std::exchange(trap_strikes_, false);
  if (const Status pulled = trap ? Status() : server_.PullPages(); !pulled) {
    LogWarning("stores through shared mappings may be missing: " + pulled.error().Message());
  }
  server_.Quiesce(true);
  const std::size_t killed = kill ? victims_.AwaitGone() : 0;
  auto report = Replace(lose, point);
  if (report) report->killed = killed;
  crashing_ = false;
  UpdateHook();
  last_ = report;
  if (observer_.done) observer_.done(report);
  return report;
}

Result<CrashReport> Crasher::Replace(const Loss& lose, const std::optional<CrashPoint>& point) {
  auto report = lose(server_.engine());
  if (!report) {
    server_.Quiesce(false);
    return report;
  }
  server_.BeginEpoch();
  server_.FinishNotifications();
  report->epoch = server_.epoch();
  report->point = point;
  return report;
}

}  // namespace tornfs::harness
