#include "harness/explore/stage.h"

#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fusefs/fuse/event_loop.h"
#include "fusefs/fuse/server.h"
#include "harness/explore/interrupt.h"
#include "harness/explore/program_environment.h"
#include "harness/stale_mount.h"

namespace tornfs::harness {
namespace {

Nanoseconds Now() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<Nanoseconds>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

Stage::Stage(ContentStore& store, const Model& model, StageOptions options)
    : options_(std::move(options)),
      engine_(store, model, [this] { return real_time_ ? Now() : Nanoseconds{0}; }) {}

Result<std::unique_ptr<Stage>> Stage::Open(ContentStore& store, const Model& model,
                                           const StageOptions& options) {
  std::unique_ptr<Stage> stage(new Stage(store, model, options));
  if (!options.user.empty()) {
    auto identity = LookUpUser(options.user);
    if (!identity) return tl::make_unexpected(identity.error());
    stage->identity_ = *identity;
  }
  SandboxOptions sandbox;
  sandbox.private_namespaces = options.private_namespaces;
  sandbox.read_only_outside = options.read_only_outside;
  sandbox.mount_point = options.mount_path;
  sandbox.pin_core = options.core;
  if (options.private_namespaces) {
    sandbox.watch = options.watch_outside ? SyscallWatch::kSyncsAndWrites : SyscallWatch::kSyncs;
    sandbox.no_mounting = true;
  }
  if (!options.private_namespaces) sandbox.cleanup = DetachCommand(options.mount_path);
  auto supervisor = Supervisor::Start(sandbox);
  if (!supervisor) return tl::make_unexpected(supervisor.error());
  stage->supervisor_ = std::move(*supervisor);

  auto loop = EventLoop::Create();
  if (!loop) return tl::make_unexpected(loop.error());
  stage->loop_ = std::move(*loop);
  MountOptions mount;
  mount.mount_point = options.mount_path;
  // Not even a page: with one, the kernel still reads ahead of a program that reads several at a
  // time from the start of a file.
  if (options.exact_reads) mount.max_readahead = 0;
  mount.readdirplus = false;
  mount.allow_other = stage->identity_.has_value();
  auto server = Server::Mount(stage->engine_, *stage->loop_, mount);
  if (!server) return tl::make_unexpected(server.error());
  stage->server_ = std::move(*server);
  if (!options.private_namespaces) {
    stage->server_->RunElsewhere([&stage] {
      struct stat found {};
      if (::stat(stage->options_.mount_path.c_str(), &found) == 0) stage->device_ = found.st_dev;
    });
  }
  stage->sync_watch_.emplace(*stage->server_, *stage->supervisor_, SyncWatch::Rest::kMountOnly);
  return stage;
}

Stage::~Stage() {
  sync_watch_.reset();
  server_.reset();
  if (supervisor_ && !supervisor_->running()) supervisor_->Stop();
}

std::string Stage::promises_path() const { return options_.mount_path + "/" + kPromisesName; }

std::vector<std::string> Stage::Environment(bool with_promises) const {
  return ProgramEnvironment(
      {options_.mount_path, options_.origin, options_.seed, with_promises ? promises_path() : ""});
}

Result<RunResult> Stage::Run(const Base& base, const RunRequest& request) {
  real_time_ = request.real_time;
  engine_.Freeze(request.real_time ? nullptr : options_.times);
  engine_.Load(base, request.record);
  server_->SetQuestionLog(request.questions);
  server_->SetPromises(request.promises);
  server_->BeginEpoch();
  server_->FinishNotifications();
  (void)server_->TakeStdout();

  SpawnRequest spawn;
  spawn.arguments = request.arguments;
  spawn.environment = Environment(request.has_promises);
  spawn.directory = options_.mount_path;
  spawn.identity = identity_;
  if (request.inherit_input) spawn.input.kind = InputSource::Kind::kInherit;
  if (request.output_is_promises) {
    spawn.output = {OutputTarget::Kind::kPath, options_.mount_path + "/" + kStdoutName};
  }
  RunResult result;
  if (auto spawned = supervisor_->Spawn(spawn); !spawned) {
    return tl::make_unexpected(spawned.error());
  }
  if (auto awaited = Await(result); !awaited) return tl::make_unexpected(awaited.error());
  if (!options_.private_namespaces) {
    if (auto there = CheckMount(); !there) return tl::make_unexpected(there.error());
  }
  if (pull_mappings_) {
    if (auto pulled = server_->PullPages(); !pulled) return tl::make_unexpected(pulled.error());
  }
  server_->SetQuestionLog(nullptr);
  auto output = supervisor_->TakeOutput(Stream::kOutput);
  auto error = supervisor_->TakeOutput(Stream::kError);
  if (!output || !error) return Fail(ErrorCode::kIo, "the output of a program was lost");
  result.output = request.output_is_promises ? server_->TakeStdout() : std::move(*output);
  result.error = std::move(*error);
  result.read_promises = server_->promises_were_read();
  result.recording = engine_.TakeRecording();
  result.end = engine_.Snapshot();
  return result;
}

Status Stage::CheckMount() {
  struct stat found {};
  bool same = false;
  server_->RunElsewhere(
      [&] { same = ::stat(options_.mount_path.c_str(), &found) == 0 && found.st_dev == device_; });
  if (same && !server_->mount_died()) return {};
  return Fail(ErrorCode::kIo, "a program unmounted or covered its world at " + options_.mount_path);
}

Status Stage::Await(RunResult& result) {
  std::optional<ExitReport> report;
  Status failure;
  const auto ended = [&] {
    if (server_->mount_died()) failure = Fail(ErrorCode::kIo, "the mount is gone");
    auto polled = supervisor_->Poll();
    if (!polled) failure = tl::make_unexpected(polled.error());
    if (polled && *polled) report = **polled;
    return report.has_value() || !failure || (Interrupted() && !result.timed_out);
  };
  const auto deadline = EventLoop::Clock::now() + options_.timeout;
  loop_->AddFd(
      supervisor_->event_fd(), EPOLLIN, [](std::uint32_t) {}, EventLoop::Nesting::kAllowed);
  (void)loop_->RunUntil(ended, deadline);
  if (!report && failure) {
    result.timed_out = true;
    if (auto killed = supervisor_->Kill(); !killed) failure = killed;
    (void)loop_->RunUntil(ended);
  }
  loop_->RemoveFd(supervisor_->event_fd());
  if (report) result.report = *report;
  if (failure && Interrupted()) failure = Fail(ErrorCode::kTimeout, "stopped by a signal");
  return failure;
}

}  // namespace tornfs::harness
