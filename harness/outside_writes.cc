#include "harness/outside_writes.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <optional>

namespace tornfs::harness {
namespace {

// Enough to see what is going on; a program may try any number of names.
constexpr std::size_t kMostPaths = 1000;

// The text at `address` of the program; nothing if it cannot be read.
std::optional<std::string> ReadText(pid_t thread, std::uint64_t address) {
  constexpr std::uint64_t kPage = 4096;  // A read that leaves the mapped pages would fail.
  std::string text;
  while (address != 0 && text.size() < PATH_MAX) {
    std::array<char, kPage> buffer;
    iovec here{buffer.data(), kPage - address % kPage};
    iovec there{reinterpret_cast<void*>(address), here.iov_len};
    const ssize_t n = ::process_vm_readv(thread, &here, 1, &there, 1, 0);
    if (n <= 0) return std::nullopt;
    const std::size_t length = ::strnlen(buffer.data(), static_cast<std::size_t>(n));
    text.append(buffer.data(), length);
    if (length < static_cast<std::size_t>(n)) return text;
    address += static_cast<std::uint64_t>(n);
  }
  return std::nullopt;
}

std::string ReadLink(const std::string& path) {
  std::array<char, PATH_MAX> buffer;
  const ssize_t n = ::readlink(path.c_str(), buffer.data(), buffer.size());
  return n > 0 ? std::string(buffer.data(), static_cast<std::size_t>(n)) : std::string();
}

std::optional<std::string> PathOf(const CaughtSyscall& caught, const std::string& process) {
  auto text = ReadText(caught.thread, caught.path);
  if (!text || text->empty()) return std::nullopt;
  if (!text->starts_with('/')) {
    const std::string link =
        caught.fd == AT_FDCWD ? process + "/cwd" : process + "/fd/" + std::to_string(caught.fd);
    const std::string folder = ReadLink(link);
    if (!folder.starts_with('/')) return std::nullopt;
    text = folder + "/" + *text;
  }
  std::string path = std::filesystem::path(*text).lexically_normal();
  if (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

bool IsBelow(const std::string& path, const std::string& folder) {
  return path == folder || path.starts_with(folder + "/");
}

bool IsReadOnly(const std::string& path) {
  struct statvfs found {};
  return ::statvfs(path.c_str(), &found) == 0 && (found.f_flag & ST_RDONLY) != 0;
}

// Whether the kernel refuses the call because `path`, seen from here, is on a read-only mount.
bool IsRefused(const CaughtSyscall& caught, const std::string& path) {
  struct stat found {};
  const bool follows = caught.kind == CaughtKind::kOpen;
  const bool exists = (follows ? ::stat(path.c_str(), &found) : ::lstat(path.c_str(), &found)) == 0;
  switch (caught.kind) {
    case CaughtKind::kOpen:
      if (!exists) {
        if ((caught.flags & O_CREAT) == 0) return false;
        break;
      }
      return (caught.flags & (O_WRONLY | O_RDWR | O_TRUNC)) != 0 && S_ISREG(found.st_mode) &&
             IsReadOnly(path);
    case CaughtKind::kCreate:
      if (exists) return false;
      break;
    case CaughtKind::kChange:
      if (!exists) return false;
      break;
    default: return false;
  }
  return IsReadOnly(std::filesystem::path(path).parent_path());
}

}  // namespace

void OutsideWrites::Look(const CaughtSyscall& caught) {
  // Private, or no place to keep anything; the helper itself works in its cgroup.
  constexpr const char* kPrivate[] = {"/tmp", "/dev/shm", "/proc", "/sys"};
  const std::string process = "/proc/" + std::to_string(caught.thread);
  const auto path = PathOf(caught, process);
  if (!path || IsBelow(*path, world_) || paths_.size() >= kMostPaths) return;
  if (std::ranges::any_of(kPrivate, [&](const char* each) { return IsBelow(*path, each); })) return;
  // Through its root the program's own mounts are seen.
  if (IsRefused(caught, process + "/root" + *path)) paths_.insert(*path);
}

}  // namespace tornfs::harness
