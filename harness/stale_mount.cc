#include "harness/stale_mount.h"

#include <dirent.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <string_view>

#include "harness/mount_table.h"

namespace tornfs::harness {
namespace {

// Runs fusermount3, quietly. Returns its exit status, or -1 when it could not be run.
int RunDetachCommand(const std::string& path) {
  std::vector<std::string> words = DetachCommand(path);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t pid = -1;
  const int failed = ::posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return -1;
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

Result<bool> IsEmptyDirectory(const std::string& path) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(path.c_str()), ::closedir);
  if (directory == nullptr) return IoError(errno, path);
  while (const dirent* entry = ::readdir(directory.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") return false;
  }
  return true;
}

// The path as the mount table spells it, found without a look at the last component, which may be
// a dead mount.
std::string TablePath(const std::string& path) {
  std::error_code ignored;
  std::filesystem::path absolute = std::filesystem::absolute(path, ignored).lexically_normal();
  if (!absolute.has_filename()) absolute = absolute.parent_path();
  const auto parent = std::filesystem::canonical(absolute.parent_path(), ignored);
  if (ignored) return absolute;
  return (parent / absolute.filename()).lexically_normal();
}

Result<bool> IsMountPoint(const std::string& path) {
  auto table = ReadMountTable();
  if (!table) return tl::make_unexpected(table.error());
  const std::string wanted = TablePath(path);
  return std::any_of(table->begin(), table->end(),
                     [&](const MountEntry& entry) { return entry.point == wanted; });
}

}  // namespace

bool IsStaleMount(const std::string& path) {
  // Not stat: the kernel may have its answer in a cache that outlives the daemon.
  struct statvfs unused;
  return ::statvfs(path.c_str(), &unused) != 0 && errno == ENOTCONN;
}

std::vector<std::string> DetachCommand(const std::string& path) {
  for (const char* program : {"/usr/bin/fusermount3", "/bin/fusermount3"}) {
    if (::access(program, X_OK) == 0) return {program, "-u", "-z", "--", path};
  }
  return {"/usr/local/bin/fusermount3", "-u", "-z", "--", path};
}

Status DetachMount(const std::string& path) {
  if (::umount2(path.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW) == 0) return {};
  const int failure = errno;
  if (failure != EPERM) return IoError(failure, "unmount " + path);
  switch (RunDetachCommand(path)) {
    case 0: return {};
    case -1: return Fail(ErrorCode::kMissing, "unmount " + path + ": fusermount3 cannot be run");
    default: return IoError(failure, "unmount " + path);
  }
}

Status CleanStaleMount(const std::string& path) {
  while (IsStaleMount(path)) {
    if (auto detached = DetachMount(path); !detached) return detached;
  }
  return {};
}

Status CheckMountPoint(const std::string& path) {
  struct stat status;
  if (::stat(path.c_str(), &status) != 0) {
    switch (errno) {
      case ENOENT: return Fail(ErrorCode::kNotFound, path + ": does not exist");
      case ENOTDIR: return Fail(ErrorCode::kInvalid, path + ": not a directory");
      case ENOTCONN:
        return Fail(ErrorCode::kBusy, path + ": the mount of a daemon that died is still there");
      default: return IoError(errno, path);
    }
  }
  if (!S_ISDIR(status.st_mode)) return Fail(ErrorCode::kInvalid, path + ": not a directory");
  auto mounted = IsMountPoint(path);
  if (!mounted) return tl::make_unexpected(mounted.error());
  if (*mounted) return Fail(ErrorCode::kBusy, path + ": something is already mounted there");
  auto empty = IsEmptyDirectory(path);
  if (!empty) return tl::make_unexpected(empty.error());
  if (!*empty) return Fail(ErrorCode::kBusy, path + ": the directory is not empty");
  return {};
}

}  // namespace tornfs::harness
