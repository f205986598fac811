#include "harness/kill_cgroup.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/mount_table.h"

namespace tornfs::harness {
namespace {

constexpr std::string_view kPrefix = "tornfs-";

// This process's own cgroup v2, from the line "0::/path".
Result<std::string> OwnCgroup() {
  auto text = ReadFile("/proc/self/cgroup");
  if (!text) return tl::make_unexpected(text.error());
  const std::string_view all = *text;
  const std::size_t at = all.starts_with("0::") ? 0 : all.find("\n0::");
  if (at == std::string_view::npos) return Fail(ErrorCode::kMissing, "no cgroup v2");
  const std::string_view path = all.substr(all.find("0::", at) + 3);
  return std::string(path.substr(0, path.find('\n')));
}

// The folder of this process's cgroup in the first cgroup v2 mount that shows it.
Result<std::string> OwnFolder() {
  auto own = OwnCgroup();
  if (!own) return own;
  auto table = ReadMountTable();
  if (!table) return tl::make_unexpected(table.error());
  for (const MountEntry& entry : *table) {
    if (entry.type != "cgroup2") continue;
    const std::string root = entry.root == "/" ? "" : entry.root;
    if (own->starts_with(root)) return entry.point + own->substr(root.size());
  }
  return Fail(ErrorCode::kMissing, "no cgroup v2");
}

// The process id in "tornfs-PID-N".
std::optional<pid_t> OwnerOf(std::string_view name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
  if (error != std::errc() || pid <= 0 || end == name.data() + name.size() || *end != '-') {
    return std::nullopt;
  }
  return pid;
}

Fd OpenAt(int directory, const char* name, int flags) {
  return Fd(::openat(directory, name, flags | O_CLOEXEC));
}

// Calls `visit` with the name of every folder in `directory`.
template <class Visit>
void ForEachFolder(int directory, Visit visit) {
  Fd copy = OpenAt(directory, ".", O_RDONLY | O_DIRECTORY);
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(copy.get()), ::closedir);
  if (stream == nullptr) return;
  (void)copy.Release();
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string_view name = entry->d_name;
    if (entry->d_type == DT_DIR && name != "." && name != "..") visit(entry->d_name);
  }
}

// Refused by the kernel while there are processes in it, which is what the callers want.
void RemoveIfEmpty(int parent, const char* name) { (void)::unlinkat(parent, name, AT_REMOVEDIR); }

void RemoveStale(int parent) {
  ForEachFolder(parent, [&](const char* name) {
    const auto owner = OwnerOf(name);
    if (!owner || ::kill(*owner, 0) == 0 || errno != ESRCH) return;
    const Fd group = OpenAt(parent, name, O_RDONLY | O_DIRECTORY);
    ForEachFolder(group.get(), [&](const char* leaf) { RemoveIfEmpty(group.get(), leaf); });
    RemoveIfEmpty(parent, name);
  });
}

Result<std::string> MakeGroup(int parent) {
  const std::string stem = std::string(kPrefix) + std::to_string(::getpid()) + "-";
  for (int number = 1; number < 10000; ++number) {
    const std::string name = stem + std::to_string(number);
    if (::mkdirat(parent, name.c_str(), 0755) == 0) return name;
    if (errno != EEXIST) break;
  }
  return Fail(ErrorCode::kMissing, "no cgroup can be made");
}

}  // namespace

Result<KillCgroup> KillCgroup::Create() {
  auto folder = OwnFolder();
  if (!folder) return tl::make_unexpected(folder.error());
  KillCgroup group;
  group.parent_ = OpenAt(AT_FDCWD, folder->c_str(), O_RDONLY | O_DIRECTORY);
  if (!group.parent_.valid()) return Fail(ErrorCode::kMissing, "no cgroup v2");
  RemoveStale(group.parent_.get());
  auto name = MakeGroup(group.parent_.get());
  if (!name) return tl::make_unexpected(name.error());
  group.name_ = std::move(*name);
  group.group_ = OpenAt(group.parent_.get(), group.name_.c_str(), O_RDONLY | O_DIRECTORY);
  group.kill_ = OpenAt(group.group_.get(), "cgroup.kill", O_WRONLY);
  if (!group.kill_.valid()) {
    group.Remove();
    return Fail(ErrorCode::kMissing, "no cgroup.kill");
  }
  return group;
}

Status KillCgroup::Kill() const {
  if (::write(kill_.get(), "1", 1) != 1) return IoError(errno, "cgroup.kill");
  return {};
}

Status KillCgroup::NewLeaf() {
  const std::string name = std::to_string(++generation_);
  if (::mkdirat(group_.get(), name.c_str(), 0755) != 0) return IoError(errno, "make a cgroup");
  leaf_ = OpenAt(group_.get(), name.c_str(), O_RDONLY | O_DIRECTORY);
  procs_ = OpenAt(leaf_.get(), "cgroup.procs", O_WRONLY);
  if (!procs_.valid()) return IoError(errno, "open a cgroup");
  RemoveIfEmpty(group_.get(), std::to_string(generation_ - 1).c_str());
  return {};
}

void KillCgroup::Remove() const {
  const Fd events = OpenAt(group_.get(), "cgroup.events", O_RDONLY);
  for (int attempt = 0; attempt < 20; ++attempt) {
    ForEachFolder(group_.get(), [&](const char* leaf) { RemoveIfEmpty(group_.get(), leaf); });
    if (::unlinkat(parent_.get(), name_.c_str(), AT_REMOVEDIR) == 0 || errno != EBUSY) return;
    pollfd changed{events.get(), POLLPRI, 0};
    (void)::poll(&changed, 1, 50);
  }
}

}  // namespace tornfs::harness
