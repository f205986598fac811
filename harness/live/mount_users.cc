#include "harness/live/mount_users.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <memory>
#include <sstream>
#include <string_view>
#include <vector>

#include "common/log.h"
#include "harness/mount_table.h"

namespace tornfs::harness {
namespace {

constexpr std::chrono::seconds kPatience{10};

std::vector<std::string> Names(const std::string& directory) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(directory.c_str()), ::closedir);
  if (stream == nullptr) return names;
  while (const dirent* entry = ::readdir(stream.get())) {
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  return names;
}

std::vector<pid_t> Processes() {
  std::vector<pid_t> pids;
  for (const std::string& name : Names("/proc")) {
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error == std::errc() && *end == '\0' && pid != ::getpid()) pids.push_back(pid);
  }
  return pids;
}

// Whether the link of /proc leads to `device`. The filesystem there is not asked.
bool LeadsTo(const std::string& link, dev_t device) {
  struct statx status {};
  if (::statx(AT_FDCWD, link.c_str(), AT_STATX_DONT_SYNC, 0, &status) != 0) return false;
  return makedev(status.stx_dev_major, status.stx_dev_minor) == device;
}

bool Holds(const std::string& proc, dev_t device) {
  for (const char* link : {"/cwd", "/root", "/exe"}) {
    if (LeadsTo(proc + link, device)) return true;
  }
  const std::string descriptors = proc + "/fd/";
  return std::ranges::any_of(Names(descriptors), [&](const std::string& name) {
    return LeadsTo(descriptors + name, device);
  });
}

// The fourth word of a line of maps is the device, "fd:01".
bool Maps(const std::string& proc, dev_t device) {
  std::array<char, 32> wanted{};
  (void)std::snprintf(wanted.data(), wanted.size(), "%02x:%02x", major(device), minor(device));
  const auto maps = ReadFile(proc + "/maps");
  if (!maps) return false;
  std::istringstream lines(*maps);
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string word;
    for (int i = 0; i < 4; ++i) words >> word;
    if (word == wanted.data()) return true;
  }
  return false;
}

bool HasEnded(const Fd& process) {
  pollfd entry{process.get(), POLLIN, 0};
  return ::poll(&entry, 1, 0) == 1;
}

}  // namespace

void MountUsers::Learn() {
  if (device_ != 0) return;
  const auto table = ReadMountTable();
  if (!table) return;
  for (const MountEntry& entry : *table) {
    if (entry.point == server_.mount_point()) device_ = entry.device;
  }
}

void MountUsers::KillAll(const Predicate& uses) {
  for (bool more = device_ != 0; more;) {
    more = false;
    for (const pid_t pid : Processes()) {
      if (found_.contains(pid) || !uses("/proc/" + std::to_string(pid))) continue;
      Fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
      if (!process.valid()) continue;
      if (::syscall(SYS_pidfd_send_signal, process.get(), SIGKILL, nullptr, 0) != 0) continue;
      found_.emplace(pid, std::move(process));
      more = true;  // It may have made another one in the meantime.
    }
  }
}

void MountUsers::Kill() {
  Learn();
  found_.clear();
  KillAll([this](const std::string& proc) { return Holds(proc, device_); });
}

std::size_t MountUsers::AwaitGone() {
  server_.RunElsewhere([this] {
    KillAll(
        [this](const std::string& proc) { return Holds(proc, device_) || Maps(proc, device_); });
  });
  EventLoop& loop = server_.loop();
  for (const auto& [pid, process] : found_) {
    const int fd = process.get();
    loop.AddFd(fd, EPOLLIN, [&loop, fd](std::uint32_t) { loop.RemoveFd(fd); });
  }
  const bool gone = loop.RunUntil(
      [this] {
        return std::ranges::all_of(found_, [](const auto& each) { return HasEnded(each.second); });
      },
      EventLoop::Clock::now() + kPatience);
  for (const auto& [pid, process] : found_) loop.RemoveFd(process.get());
  if (!gone) LogWarning("a killed process does not end");
  const std::size_t count = found_.size();
  found_.clear();
  return count;
}

}  // namespace tornfs::harness
