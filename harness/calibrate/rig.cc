#include "harness/calibrate/rig.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <string_view>
#include <utility>

#include "common/hash.h"
#include "harness/calibrate/step_runner.h"

namespace tornfs::harness {
namespace {

// A commit that does not come by itself is not waited for longer than this.
constexpr std::chrono::seconds kCommitMost{10};

Result<std::string> MakeFolder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return IoError(errno, "mkdir " + path);
  return path;
}

// Of a filesystem that exists now: mkfs and the kernel refuse two of the same.
std::string Uuid(std::string_view type, unsigned id) {
  std::array<char, 40> text{};
  (void)std::snprintf(text.data(), text.size(), "746f726e-%04x-4000-8000-%04x%08x",
                      static_cast<unsigned>(Hash64(type) & 0xffff), id & 0xffff,
                      static_cast<unsigned>(::getpid()));
  return text.data();
}

// T has the shortest interval there is, all others one that does not come into it.
std::string CommitOption(const Filesystem& filesystem, Schedule schedule) {
  if (!filesystem.commit_option) return {};
  return schedule == Schedule::kTimer ? "commit=1" : "commit=300";
}

}  // namespace

Result<std::unique_ptr<Rig>> Rig::Create(const std::string& folder, unsigned id) {
  std::unique_ptr<Rig> rig(new Rig);
  rig->id_ = id;
  auto loop = EventLoop::Create();
  if (!loop) return tl::make_unexpected(loop.error());
  rig->loop_ = std::move(*loop);
  const auto disk = MakeFolder(folder + "/disk");
  if (!disk) return tl::make_unexpected(disk.error());
  const auto mount_point = MakeFolder(folder + "/mnt");
  if (!mount_point) return tl::make_unexpected(mount_point.error());
  auto hands = Hands::Start(*rig->loop_, *mount_point);
  if (!hands) return tl::make_unexpected(hands.error());
  rig->hands_ = std::move(*hands);
  auto server = ImageServer::Mount(*rig->loop_, *disk, kDeviceBytes);
  if (!server) return tl::make_unexpected(server.error());
  rig->server_ = std::move(*server);
  const Status attached = rig->hands_->Attach(rig->server_->file());
  if (!attached) return tl::make_unexpected(attached.error());
  return rig;
}

Rig::~Rig() {
  hands_.reset();
  server_.reset();
}

Result<DeviceImage> Rig::Template(const Filesystem& filesystem) {
  const auto found = templates_.find(filesystem.name);
  if (found != templates_.end()) return found->second;
  server_->SetImage(DeviceImage(kDeviceBytes));
  const Status made = hands_->Make(filesystem, Uuid(filesystem.type, id_));
  if (!made) return tl::make_unexpected(made.error());
  return templates_.emplace(filesystem.name, server_->image()).first->second;
}

Status Rig::RunRecorded(const Filesystem& filesystem, const CalibrationProgram& program,
                        Schedule schedule) {
  const auto side = [&](SideCall call) { return hands_->Do(call); };
  const std::uint64_t flushes = server_->flushes();
  Status status = {};
  if (schedule == Schedule::kInterleaved) {
    for (std::size_t i = 0; status && i < program.main.size(); ++i) {
      status = hands_->Run(
          {program.main[i]}, [&](std::size_t) { server_->Mark(2 * i); },
          [&](std::size_t) { server_->Mark(2 * i + 1); });
      if (status) status = side(SideCall::kSyncAnother);
    }
  } else {
    server_->SetSlow(schedule == Schedule::kDelayed);
    status = hands_->Run(
        program.main, [&](std::size_t i) { server_->Mark(2 * i); },
        [&](std::size_t i) { server_->Mark(2 * i + 1); });
  }
  if (!status) return status;
  if (schedule == Schedule::kTimer && Applies(schedule, filesystem)) {
    const auto deadline = EventLoop::Clock::now() + kCommitMost;
    (void)loop_->RunUntil([&] { return server_->flushes() > flushes; }, deadline);
  }
  if (schedule == Schedule::kWriteBack) status = side(SideCall::kWriteBack);
  if (status && (schedule == Schedule::kWriteBack || schedule == Schedule::kFsync ||
                 schedule == Schedule::kDelayed)) {
    status = side(SideCall::kSyncAnother);
  }
  if (status) status = side(SideCall::kSyncAll);
  return status;
}

Result<Recording> Rig::Record(const Filesystem& filesystem, const CalibrationProgram& program,
                              Schedule schedule) {
  auto blank = Template(filesystem);
  if (!blank) return tl::make_unexpected(blank.error());
  server_->SetImage(*blank);
  Status status = hands_->Mount(filesystem, CommitOption(filesystem, schedule));
  if (!status) return tl::make_unexpected(status.error());
  status = hands_->Run({{"mkdir", kOtherFolder}});
  if (status) status = hands_->Run(program.setup);
  if (status) status = hands_->Do(SideCall::kSyncAll);
  Recording recording{server_->image(), {}};
  if (status) {
    server_->StartLog();
    status = RunRecorded(filesystem, program, schedule);
    recording.log = server_->StopLog();
  }
  server_->SetSlow(false);
  const Status unmounted = hands_->Unmount();
  if (!status) return tl::make_unexpected(status.error());
  if (!unmounted) return tl::make_unexpected(unmounted.error());
  return recording;
}

Result<std::string> Rig::Look(const Filesystem& filesystem, DeviceImage image) {
  server_->SetImage(std::move(image));
  return hands_->Look(filesystem);
}

}  // namespace tornfs::harness
