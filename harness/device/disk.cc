#include "harness/device/disk.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <string_view>

#include "common/hash.h"

namespace tornfs::harness {
namespace {

// A commit that does not come by itself is not waited for longer than this.
constexpr std::chrono::seconds kCommitMost{10};

Status MakeFolder(const std::string& path) {
  if (::mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) return IoError(errno, "mkdir " + path);
  return {};
}

// Of a filesystem that exists now: mkfs and the kernel refuse two of the same.
std::string Uuid(std::string_view type, unsigned id) {
  std::array<char, 40> text{};
  (void)std::snprintf(text.data(), text.size(), "746f726e-%04x-4000-8000-%04x%08x",
                      static_cast<unsigned>(Hash64(type) & 0xffff), id & 0xffff,
                      static_cast<unsigned>(::getpid()));
  return text.data();
}

}  // namespace

Result<std::unique_ptr<Disk>> Disk::Create(EventLoop& loop, const std::string& folder,
                                           unsigned id) {
  std::unique_ptr<Disk> disk(new Disk(loop, folder + "/mnt", id));
  const std::string served = folder + "/disk";
  for (const std::string& path : {served, disk->mount_point_}) {
    if (const Status made = MakeFolder(path); !made) return tl::make_unexpected(made.error());
  }
  auto hands = Hands::Start(loop, disk->mount_point_);
  if (!hands) return tl::make_unexpected(hands.error());
  disk->hands_ = std::move(*hands);
  auto server = ImageServer::Mount(loop, served, kDeviceBytes);
  if (!server) return tl::make_unexpected(server.error());
  disk->server_ = std::move(*server);
  const Status attached = disk->hands_->Attach(disk->server_->file());
  if (!attached) return tl::make_unexpected(attached.error());
  return disk;
}

Disk::~Disk() {
  hands_.reset();
  server_.reset();
}

Result<DeviceImage> Disk::Make(const Filesystem& filesystem) {
  server_->SetImage(DeviceImage(kDeviceBytes));
  const Status made = hands_->Make(filesystem, Uuid(filesystem.type, id_));
  if (!made) return tl::make_unexpected(made.error());
  return server_->image();
}

Status Disk::Finish(const Filesystem& filesystem, Schedule schedule, std::uint64_t flushes) {
  if (schedule == Schedule::kTimer && Applies(schedule, filesystem)) {
    const auto deadline = EventLoop::Clock::now() + kCommitMost;
    (void)loop_.RunUntil([&] { return server_->flushes() > flushes; }, deadline);
  }
  Status status;
  if (schedule == Schedule::kWriteBack) status = hands_->Do(SideCall::kWriteBack);
  if (status && (schedule == Schedule::kWriteBack || schedule == Schedule::kFsync ||
                 schedule == Schedule::kDelayed)) {
    status = hands_->Do(SideCall::kSyncAnother);
  }
  if (status) status = hands_->Do(SideCall::kSyncAll);
  return status;
}

}  // namespace tornfs::harness
