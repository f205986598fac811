#include "harness/live/crasher.h"

#include <utility>

#include "common/log.h"

namespace tornfs::harness {

Result<CrashReport> Crasher::CrashNow(const CrashOptions& options) {
  if (crashing_) return Fail(ErrorCode::kBusy, "a crash is under way");
  crashing_ = true;
  if (options.kill) victims_.Kill();
  if (observer_.struck) observer_.struck();
  return Finish(options, std::nullopt);
}

void Crasher::Arm(Trigger trigger, CrashOptions options) {
  armed_ = Armed{ArmedTrigger(std::move(trigger)), std::move(options)};
  server_.SetHook(this);
}

bool Crasher::Disarm() {
  const bool was_armed = armed_.has_value();
  armed_.reset();
  if (!crashing_) server_.SetHook(nullptr);
  return was_armed;
}

bool Crasher::Consult(When when, const TriggerRequest& request) {
  if (crashing_) return request.kind == OpKind::kWriteback;
  if (!armed_ || !armed_->trigger.Fires(when, request)) return true;
  crashing_ = true;
  fired_ = CrashPoint{when, request.kind, request.number, request.path, request.to};
  fired_options_ = std::exchange(armed_, std::nullopt)->options;
  if (fired_options_.kill) victims_.Kill();
  if (observer_.struck) observer_.struck();
  return false;
}

void Crasher::Refused() {
  if (!fired_) return;  // A request that came while the crash was under way.
  const auto point = std::exchange(fired_, std::nullopt);
  const auto report = Finish(fired_options_, point);
  if (!report) LogError("the armed crash failed: " + report.error().Message());
}

Result<CrashReport> Crasher::Finish(const CrashOptions& options,
                                    const std::optional<CrashPoint>& point) {
  if (const Status pulled = server_.PullPages(); !pulled) {
    LogWarning("stores through shared mappings may be missing: " + pulled.error().Message());
  }
  server_.Quiesce(true);
  const std::size_t killed = options.kill ? victims_.AwaitGone() : 0;
  auto report = Replace(options, point);
  if (report) report->killed = killed;
  crashing_ = false;
  if (!armed_) server_.SetHook(nullptr);
  last_ = report;
  if (observer_.done) observer_.done(report);
  return report;
}

Result<CrashReport> Crasher::Replace(const CrashOptions& options,
                                     const std::optional<CrashPoint>& point) {
  auto report = LosePower(server_.engine(), options);
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
