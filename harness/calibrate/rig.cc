#include "harness/calibrate/rig.h"

#include <utility>

#include "harness/device/step_runner.h"

namespace tornfs::harness {

Result<std::unique_ptr<Rig>> Rig::Create(const std::string& folder, unsigned id) {
  std::unique_ptr<Rig> rig(new Rig);
  auto loop = EventLoop::Create();
  if (!loop) return tl::make_unexpected(loop.error());
  rig->loop_ = std::move(*loop);
  auto disk = Disk::Create(*rig->loop_, folder, id);
  if (!disk) return tl::make_unexpected(disk.error());
  rig->disk_ = std::move(*disk);
  return rig;
}

Result<DeviceImage> Rig::Template(const Filesystem& filesystem) {
  const auto found = templates_.find(filesystem.name);
  if (found != templates_.end()) return found->second;
  auto made = disk_->Make(filesystem);
  if (!made) return made;
  return templates_.emplace(filesystem.name, std::move(*made)).first->second;
}

Status Rig::RunRecorded(const Filesystem& filesystem, const CalibrationProgram& program,
                        Schedule schedule) {
  Hands& hands = disk_->hands();
  ImageServer& server = disk_->server();
  const std::uint64_t flushes = server.flushes();
  Status status = {};
  if (schedule == Schedule::kInterleaved) {
    for (std::size_t i = 0; status && i < program.main.size(); ++i) {
      status = hands.Run(
          {program.main[i]}, [&](std::size_t) { server.Mark(2 * i); },
          [&](std::size_t) { server.Mark(2 * i + 1); });
      if (status) status = hands.Do(SideCall::kSyncAnother);
    }
  } else {
    server.SetSlow(schedule == Schedule::kDelayed);
    status = hands.Run(
        program.main, [&](std::size_t i) { server.Mark(2 * i); },
        [&](std::size_t i) { server.Mark(2 * i + 1); });
  }
  if (!status) return status;
  return disk_->Finish(filesystem, schedule, flushes);
}

Result<DeviceRecording> Rig::Record(const Filesystem& filesystem, const CalibrationProgram& program,
                                    Schedule schedule) {
  auto blank = Template(filesystem);
  if (!blank) return tl::make_unexpected(blank.error());
  Hands& hands = disk_->hands();
  ImageServer& server = disk_->server();
  server.SetImage(*blank);
  Status status = hands.Mount(filesystem, CommitOption(filesystem, schedule));
  if (!status) return tl::make_unexpected(status.error());
  status = hands.Run({{"mkdir", kOtherFolder}});
  if (status) status = hands.Run(program.setup);
  if (status) status = hands.Do(SideCall::kSyncAll);
  DeviceRecording recording{server.image(), {}};
  if (status) {
    server.StartLog();
    status = RunRecorded(filesystem, program, schedule);
    recording.log = server.StopLog();
  }
  server.SetSlow(false);
  const Status unmounted = hands.Unmount();
  if (!status) return tl::make_unexpected(status.error());
  if (!unmounted) return tl::make_unexpected(unmounted.error());
  return recording;
}

Result<std::string> Rig::Look(const Filesystem& filesystem, DeviceImage image) {
  disk_->server().SetImage(std::move(image));
  return disk_->hands().Look(filesystem);
}

}  // namespace tornfs::harness
