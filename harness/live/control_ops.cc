#include "harness/live/control_ops.h"

#include <unistd.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "common/memory.h"

namespace tornfs::harness {
namespace {

using Json = nlohmann::json;

// Keeps a reply far below what a client may have queued.
constexpr std::size_t kMostEffectsListed = 10'000;

Json LastCrash(const Crasher& crasher) {
  const auto& last = crasher.last();
  if (!last) return nullptr;
  if (*last) return ToJson(**last);
  return {{"error", last->error().Message()}};
}

Json ArmedCrash(const Crasher& crasher) {
  const auto& armed = crasher.armed();
  if (!armed) return nullptr;
  return {{"trigger", FormatTrigger(armed->trigger.trigger())},
          {"matches", armed->trigger.matches()},
          {"options", ToJson(armed->options)}};
}

}  // namespace

ControlOps::ControlOps(LiveMount& mount, Crasher& crasher, FaultTable& faults,
                       ControlServer& control)
    : mount_(mount), crasher_(crasher), faults_(faults), control_(control) {
  control.On("status", [this](const Json&) { return Status(); });
  control.On("unsynced", [this](const Json&) { return Unsynced(); });
  control.On("sync", [this](const Json&) { return Sync(); });
  control.On("export", [this](const Json& args) { return Export(args); });
  control.On("crash", [this](const Json& args) { return Crash(args); });
  control.On("arm", [this](const Json& args) { return Arm(args); });
  control.On("disarm", [this](const Json&) -> Result<Json> {
    return Json{{"was_armed", crasher_.Disarm()}};
  });
  control.On("fault", [this](const Json& args) { return AddFault(args); });
  control.On("clear-faults", [this](const Json&) -> Result<Json> {
    return Json{{"rules", faults_.Clear()}};
  });
  control.On("umount", [this](const Json&) { return Umount(); });
}

Json ControlOps::Counters() const {
  const Server::Counters counters = mount_.server().counters();
  return {{"requests", counters.requests},
          {"dead_requests", counters.dead_requests},
          {"refused_changes", counters.refused_changes},
          {"joined_parts", counters.joined_parts},
          {"syncs_seen", counters.syncs_seen}};
}

Json ControlOps::Memory() const {
  const ContentStore& store = mount_.store();
  const ContentStore::Options& options = store.options();
  return {{"limit", options.memory_limit},
          {"resident", ResidentBytes()},
          {"store", options.directory.empty() ? Json() : Json(options.directory)},
          {"moved_bytes", store.moved()},
          {"short", store.tight()},
          {"written_back", mount_.engine().written_back()}};
}

Result<Json> ControlOps::Status() {
  const Engine& engine = mount_.engine();
  const auto uptime = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - started_);
  return Json{{"mount", mount_.server().mount_point()},
              {"control", control_.path()},
              {"pid", ::getpid()},
              {"model", engine.model().name},
              {"epoch", mount_.server().epoch()},
              {"ops", engine.next_op() - 1},
              {"pending_effects", engine.pending().size()},
              {"pending_bytes", engine.pending().DataBytes()},
              {"stored_bytes", mount_.store().size()},
              {"memory", Memory()},
              {"uptime_ms", uptime.count()},
              // The kernel passes sync(2) and syncfs(2) on to fuseblk mounts only.
              {"sync_seen", false},
              {"armed", ArmedCrash(crasher_)},
              {"crashing", crasher_.crashing()},
              {"last_crash", LastCrash(crasher_)},
              {"faults", faults_.ToJson()},
              {"counters", Counters()}};
}

Result<Json> ControlOps::Unsynced() {
  const Window window = mount_.engine().CrashWindow(Tear::kPage);
  Json effects = Json::array();
  const auto nodes = window.nodes();
  for (std::uint32_t i = 0; i < nodes.size() && i < kMostEffectsListed; ++i) {
    effects.push_back({{"node", i},
                       {"op", nodes[i].op},
                       {"effect", window.Describe(i)},
                       {"requires", nodes[i].requires_}});
  }
  return Json{{"pending", nodes.size()}, {"effects", std::move(effects)}};
}

Result<Json> ControlOps::Sync() {
  if (crasher_.crashing()) return Fail(ErrorCode::kBusy, "a crash is under way");
  if (auto pulled = mount_.server().PullPages(); !pulled) {
    return tl::make_unexpected(pulled.error());
  }
  Engine& engine = mount_.engine();
  const OpNumber op = engine.next_op();
  if (const auto done = engine.Barrier({}, OpKind::kSyncfs, kRootIno); !done) {
    return IoError(static_cast<int>(done.error()), "sync");
  }
  engine.SettleAll();
  return Json{{"op", op}};
}

Result<Json> ControlOps::Export(const Json& args) {
  const std::string directory = args.value("dir", "");
  if (!directory.starts_with('/')) {
    return Fail(ErrorCode::kInvalid, "\"dir\" is not an absolute path");
  }
  if (auto done = mount_.Export(directory); !done) return tl::make_unexpected(done.error());
  return Json{{"dir", directory}};
}

Result<Json> ControlOps::Crash(const Json& args) {
  const auto options = CrashOptionsFromJson(args);
  if (!options) return tl::make_unexpected(options.error());
  const auto report = crasher_.CrashNow(*options);
  if (!report) return tl::make_unexpected(report.error());
  return ToJson(*report);
}

Result<Json> ControlOps::Arm(const Json& args) {
  auto options = CrashOptionsFromJson(args);
  if (!options) return tl::make_unexpected(options.error());
  const auto trigger = ParseTrigger(args.value("trigger", ""));
  if (!trigger) return tl::make_unexpected(trigger.error());
  crasher_.Arm(*trigger, std::move(*options));
  return Json{{"trigger", FormatTrigger(*trigger)}};
}

Result<Json> ControlOps::AddFault(const Json& args) {
  auto rule = ParseFaultRule(args.value("rule", ""));
  if (!rule) return tl::make_unexpected(rule.error());
  Json added{{"rule", rule->text}};
  faults_.Add(std::move(*rule));
  return added;
}

Result<Json> ControlOps::Umount() {
  if (crasher_.crashing()) return Fail(ErrorCode::kBusy, "a crash is under way");
  umount_requested_ = true;
  mount_.server().Unmount();
  return Json::object();
}

}  // namespace tornfs::harness
