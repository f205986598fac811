#include "harness/live/run_place.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <utility>

#include "harness/mount_table.h"
#include "harness/sandbox.h"
#include "harness/stale_mount.h"

namespace tornfs::harness {
namespace {

constexpr const char* kFolder = "/tmp";
constexpr const char* kPrefix = "tornfs-run-";

// An exclusive lock on the directory at `path`; invalid if somebody else has it.
Fd LockDirectory(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (fd.valid() && ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) fd.Reset();
  return fd;
}

// Whether `path` still leads to the open directory.
bool LeadsTo(const std::string& path, const Fd& fd) {
  struct stat there {};
  struct stat here {};
  return ::lstat(path.c_str(), &there) == 0 && ::fstat(fd.get(), &here) == 0 &&
         there.st_ino == here.st_ino && there.st_dev == here.st_dev;
}

// Whether the process that a directory is named after is there.
bool OwnerLives(std::string_view name) {
  name.remove_prefix(std::string_view(kPrefix).size());
  pid_t pid = 0;
  (void)std::from_chars(name.data(), name.data() + name.size(), pid);
  return pid > 0 && (::kill(pid, 0) == 0 || errno == EPERM);
}

// Only empty directories that nobody has locked go, and mounts of processes that are gone. A mount
// that may be alive is not touched: its daemon need not answer.
void RemoveAbandoned() {
  const auto table = ReadMountTable();
  if (!table) return;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder, error)) {
    const std::string path = entry.path();
    const std::string name = entry.path().filename();
    if (!name.starts_with(kPrefix)) continue;
    const bool mounted =
        std::ranges::any_of(*table, [&](const MountEntry& each) { return each.point == path; });
    if (mounted && (OwnerLives(name) || !CleanStaleMount(path))) continue;
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0 || status.st_uid != ::geteuid()) continue;
    const Fd lock = LockDirectory(path);
    if (lock.valid() && LeadsTo(path, lock)) (void)::rmdir(path.c_str());
  }
}

}  // namespace

Result<std::unique_ptr<RunPlace>> RunPlace::Prepare(const Options& options) {
  std::unique_ptr<RunPlace> place(new RunPlace);
  if (::geteuid() == 0) {
    const Status entered = EnterPrivateNamespaces();
    if (!entered && entered.error().code != ErrorCode::kMissing) {
      return tl::make_unexpected(entered.error());
    }
    place->private_ = entered.has_value();
  }
  if (auto chosen = place->Choose(options); !chosen) return tl::make_unexpected(chosen.error());
  SandboxOptions sandbox;
  sandbox.private_namespaces = place->private_;
  sandbox.pin_core = options.pin_core;
  if (::geteuid() == 0) sandbox.watch = SyscallWatch::kSyncs;
  sandbox.mount_point = place->mount_point_;
  sandbox.cleanup = place->Cleanup();
  auto supervisor = Supervisor::Start(sandbox);
  if (!supervisor) return tl::make_unexpected(supervisor.error());
  place->supervisor_ = std::move(*supervisor);
  return place;
}

RunPlace::~RunPlace() {
  supervisor_.reset();
  if (lock_.valid()) (void)::rmdir(mount_point_.c_str());
}

Status RunPlace::Choose(const Options& options) {
  if (options.at.empty()) return MakeDirectory(options.for_other_user ? 0755 : 0700);
  // What is in a directory is covered for nobody but us when the mount is private.
  if (!private_) {
    if (Status cleaned = CleanStaleMount(options.at); !cleaned) return cleaned;
    if (Status fit = CheckMountPoint(options.at); !fit) return fit;
  }
  std::error_code error;
  mount_point_ = std::filesystem::canonical(options.at, error);
  if (error) return Fail(ErrorCode::kNotFound, options.at + ": does not exist");
  if (!std::filesystem::is_directory(mount_point_, error)) {
    return Fail(ErrorCode::kInvalid, options.at + ": not a directory");
  }
  return {};
}

Status RunPlace::MakeDirectory(mode_t mode) {
  RemoveAbandoned();
  // Another process may take a directory for abandoned before it is locked.
  constexpr int kAttempts = 10;
  for (int i = 0; i < kAttempts; ++i) {
    mount_point_ = std::string(kFolder) + "/" + kPrefix + std::to_string(::getpid()) + "-XXXXXX";
    if (::mkdtemp(mount_point_.data()) == nullptr) return IoError(errno, mount_point_);
    lock_ = LockDirectory(mount_point_);
    if (!lock_.valid() || !LeadsTo(mount_point_, lock_)) continue;
    if (::fchmod(lock_.get(), mode) != 0) return IoError(errno, mount_point_);
    return {};
  }
  return Fail(ErrorCode::kBusy, std::string("cannot keep a directory in ") + kFolder);
}

std::vector<std::string> RunPlace::Cleanup() const {
  std::vector<std::string> words{
      "/bin/sh", "-c", lock_.valid() ? "dir=$1; shift; \"$@\"; rmdir \"$dir\"" : "shift; \"$@\"",
      "sh", mount_point_};
  for (std::string& word : DetachCommand(mount_point_)) words.push_back(std::move(word));
  return words;
}

}  // namespace tornfs::harness
