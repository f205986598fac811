#include "harness/on/stage.h"

#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "common/fd.h"
#include "harness/command_line.h"
#include "harness/device/step_runner.h"
#include "harness/explore/interrupt.h"
#include "harness/explore/program_environment.h"
#include "harness/sandbox.h"

namespace tornfs::harness {
namespace {

// Where the device is served, and promises are read; the same in every run.
constexpr const char* kDeviceFolder = "/run/tornfs-device";
constexpr const char* kWorldFolder = "/world";

std::string PromisesPath() { return std::string(kDeviceFolder) + "/promises"; }

// Whole lines of what was printed.
std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    lines.push_back(text.substr(begin, end - begin));
  }
  return lines;
}

SandboxOptions SandboxFor(const ExploreSpec& spec, int core) {
  SandboxOptions options;
  options.private_namespaces = true;
  options.read_only_outside = true;
  options.no_mounting = true;
  options.mount_point = spec.mount_path;
  options.pin_core = core;
  return options;
}

}  // namespace

Result<std::unique_ptr<OnStage>> OnStage::Create(const OnSpec& spec, unsigned id, int core) {
  std::unique_ptr<OnStage> stage(new OnStage(spec));
  stage->interrupts_ = Interrupts();
  if (!spec.explore.user.empty()) {
    auto identity = LookUpUser(spec.explore.user);
    if (!identity) return tl::make_unexpected(identity.error());
    stage->identity_ = *identity;
  }
  for (const std::string& path : {std::string(kDeviceFolder), spec.explore.mount_path}) {
    if (const Status made = MakeDirectories(path); !made) return tl::make_unexpected(made.error());
  }
  if (::mount("tmpfs", kDeviceFolder, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755") != 0) {
    return IoError(errno, std::string("mount on ") + kDeviceFolder);
  }
  stage->covered_ = true;
  if (const Status made = WriteFile(PromisesPath(), ""); !made) {
    return tl::make_unexpected(made.error());
  }
  auto supervisor = Supervisor::Start(SandboxFor(spec.explore, core));
  if (!supervisor) return tl::make_unexpected(supervisor.error());
  auto loop = EventLoop::Create();
  if (!loop) return tl::make_unexpected(loop.error());
  stage->loop_ = std::move(*loop);
  auto disk = Disk::Create(*stage->loop_, kDeviceFolder, id);
  if (!disk) return tl::make_unexpected(disk.error());
  stage->disk_ = std::move(*disk);
  stage->runner_ = std::make_unique<ProgramRunner>(*stage->loop_, std::move(*supervisor));
  return stage;
}

OnStage::~OnStage() {
  runner_.reset();
  disk_.reset();
  if (covered_) (void)::umount2(kDeviceFolder, MNT_DETACH);
}

std::string OnStage::world() const { return disk_->mount_point() + kWorldFolder; }

Result<DeviceImage> OnStage::MakeWorld(std::optional<RecordFailure>& failure) {
  auto made = disk_->Make(spec_.filesystem);
  if (!made) return made;
  Hands& hands = disk_->hands();
  Status status = hands.Mount(spec_.filesystem, CommitOption(spec_.filesystem, Schedule::kSync));
  if (status) status = hands.Run({{"mkdir", kOtherFolder}});
  const std::string& import = spec_.explore.import_directory;
  if (status && import.empty()) {
    const Identity owner = identity_.value_or(Identity{::getuid(), ::getgid(), {}});
    status = hands.MakeFolder(world(), owner.uid, owner.gid);
  } else if (status) {
    status = hands.Copy(import, world());
  }
  if (status) status = hands.Show(world(), spec_.explore.mount_path);
  if (status && !spec_.explore.setup.empty()) {
    auto setup = Run(spec_.explore.setup, {});
    if (setup) {
      failure = FailureOf("setup", *setup);
    } else {
      status = tl::make_unexpected(setup.error());
    }
  }
  const Status unmounted = hands.Unmount();
  if (!status) return tl::make_unexpected(status.error());
  if (!unmounted) return tl::make_unexpected(unmounted.error());
  return disk_->server().image();
}

Status OnStage::MountWorld(DeviceImage image, Schedule schedule) {
  disk_->server().SetImage(std::move(image));
  Hands& hands = disk_->hands();
  Status status = hands.Mount(spec_.filesystem, CommitOption(spec_.filesystem, schedule));
  if (!status) return status;
  status = hands.Show(world(), spec_.explore.mount_path);
  if (!status) (void)hands.Unmount();
  return status;
}

Result<OnRecording> OnStage::Record(const DeviceImage& start, Schedule schedule, int input,
                                    std::optional<RecordFailure>& failure) {
  ImageServer& server = disk_->server();
  Status status = MountWorld(start, schedule);
  if (status) status = disk_->hands().Do(SideCall::kSyncAll);
  if (!status) return tl::make_unexpected(status.error());
  const CommandContext context{spec_.explore.origin, spec_.explore.mount_path, PromisesPath()};
  auto words = PrepareArguments(spec_.explore.workload, context);
  if (!words) return tl::make_unexpected(words.error());
  OnRecording recording{schedule, {server.image(), {}}, {}};
  const std::uint64_t flushes = server.flushes();
  (void)server.TakeOutput();
  server.StartLog();
  server.SetSlow(schedule == Schedule::kDelayed);
  auto result = Run(*words, {.prints_promises = true, .input = input});
  if (result) status = disk_->Finish(spec_.filesystem, schedule, flushes);
  recording.device.log = server.StopLog();
  server.SetSlow(false);
  const Status unmounted = disk_->hands().Unmount();
  if (!result) return tl::make_unexpected(result.error());
  if (!status) return tl::make_unexpected(status.error());
  if (!unmounted) return tl::make_unexpected(unmounted.error());
  failure = FailureOf("the workload", *result);
  recording.promises = LinesOf(result->output);
  return recording;
}

Result<OnVerdict> OnStage::Judge(DeviceImage image, const std::string& promises,
                                 const std::string& copy_to) {
  OnVerdict judged;
  const Status mounted = MountWorld(std::move(image), Schedule::kSync);
  if (!mounted) {
    judged.why_not = mounted.error().Message();
    return judged;
  }
  judged.mounted = true;
  Status copied;
  if (!copy_to.empty()) copied = disk_->hands().Copy(world(), copy_to);
  auto verdict = copied ? RecoverAndCheck(promises) : tl::make_unexpected(copied.error());
  const Status unmounted = disk_->hands().Unmount();
  if (!verdict) return tl::make_unexpected(verdict.error());
  if (!unmounted) return tl::make_unexpected(unmounted.error());
  judged.verdict = std::move(*verdict);
  return judged;
}

Status OnStage::CopyWorld(DeviceImage image, const std::string& to) {
  const Status mounted = MountWorld(std::move(image), Schedule::kSync);
  if (!mounted) return mounted;
  const Status copied = disk_->hands().Copy(world(), to);
  const Status unmounted = disk_->hands().Unmount();
  return copied ? unmounted : copied;
}

Result<Verdict> OnStage::RecoverAndCheck(const std::string& promises) {
  std::string known = promises;
  Verdict verdict;
  if (!spec_.explore.recover.empty()) {
    if (const Status told = WriteFile(PromisesPath(), known); !told) {
      return tl::make_unexpected(told.error());
    }
    auto result = Run(spec_.explore.recover, {.has_promises = true});
    if (!result) return tl::make_unexpected(result.error());
    verdict = JudgeRecovery(*result);
    known += result->output.substr(0, result->output.rfind('\n') + 1);
  }
  if (!verdict.good() || spec_.explore.check.empty()) return verdict;
  if (const Status told = WriteFile(PromisesPath(), known); !told) {
    return tl::make_unexpected(told.error());
  }
  auto result = Run(spec_.explore.check, {.has_promises = true});
  if (!result) return tl::make_unexpected(result.error());
  return JudgeCheck(*result);
}

Result<RunResult> OnStage::Run(const std::string& command, const Options& options) {
  auto words =
      ParseCommandString(command, {spec_.explore.origin, spec_.explore.mount_path, PromisesPath()});
  if (!words) return tl::make_unexpected(words.error());
  return Run(*words, options);
}

Result<RunResult> OnStage::Run(const std::vector<std::string>& arguments, const Options& options) {
  SpawnRequest spawn;
  spawn.arguments = arguments;
  spawn.environment =
      ProgramEnvironment({spec_.explore.mount_path, spec_.explore.origin, spec_.explore.seed,
                          options.has_promises ? PromisesPath() : ""});
  spawn.directory = spec_.explore.mount_path;
  spawn.identity = identity_;
  if (options.input >= 0) spawn.input = {InputSource::Kind::kFd, options.input};
  if (options.prints_promises) {
    spawn.output = {OutputTarget::Kind::kPath, disk_->server().output_file()};
  }
  ProgramRunner::Limits limits;
  limits.timeout = spec_.explore.timeout;
  limits.stop = [this] { return Interrupts() != interrupts_; };
  auto ended = runner_->Run(spawn, limits);
  if (!ended) return tl::make_unexpected(ended.error());
  if (ended->stopped) return Fail(ErrorCode::kTimeout, "stopped by a signal");
  auto output = runner_->TakeOutput(Stream::kOutput);
  auto error = runner_->TakeOutput(Stream::kError);
  if (!output || !error) return Fail(ErrorCode::kIo, "the output of a program was lost");
  RunResult result;
  result.report = ended->report;
  result.timed_out = ended->timed_out;
  result.output = options.prints_promises ? disk_->server().TakeOutput() : std::move(*output);
  result.error = std::move(*error);
  return result;
}

}  // namespace tornfs::harness
