#include "fusefs/core/host_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/xattr.h>

#include <algorithm>
#include <cerrno>
#include <memory>

namespace tornfs {

Result<Fd> OpenAt(int dir, const std::string& name, int flags, unsigned mode,
                  const std::string& path) {
  int fd = -1;
  do {
    fd = ::openat(dir, name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return IoError(errno, path);
  return Fd(fd);
}

std::string DescriptorPath(int fd, const std::string& name) {
  return "/proc/self/fd/" + std::to_string(fd) + "/" + name;
}

std::vector<std::pair<std::string, std::string>> HostXattrs(const std::string& path) {
  constexpr std::size_t kMaxBytes = 65536;  // XATTR_LIST_MAX, XATTR_SIZE_MAX.
  std::vector<std::pair<std::string, std::string>> xattrs;
  const ssize_t needs = ::llistxattr(path.c_str(), nullptr, 0);
  if (needs <= 0) return xattrs;
  std::string list(kMaxBytes, '\0');
  const ssize_t listed = ::llistxattr(path.c_str(), list.data(), list.size());
  for (std::size_t at = 0; listed > 0 && at < static_cast<std::size_t>(listed);) {
    const std::string name(list.c_str() + at);
    at += name.size() + 1;
    const bool wanted = name.starts_with("user.") || name.starts_with("trusted.") ||
                        name == "security.capability" || name.starts_with("system.posix_acl_");
    if (!wanted) continue;
    std::string value(kMaxBytes, '\0');
    const ssize_t length = ::lgetxattr(path.c_str(), name.c_str(), value.data(), value.size());
    if (length < 0) continue;
    value.resize(static_cast<std::size_t>(length));
    xattrs.emplace_back(name, std::move(value));
  }
  return xattrs;
}

Result<std::vector<std::string>> NamesIn(int dir, const std::string& path) {
  auto own = OpenAt(dir, ".", O_RDONLY | O_DIRECTORY, 0, path);
  if (!own) return tl::make_unexpected(own.error());
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(::fdopendir(own->get()), ::closedir);
  if (!listing) return IoError(errno, path);
  (void)own->Release();  // The listing owns it now.
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(listing.get());
    if (entry == nullptr) break;
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  if (errno != 0) return IoError(errno, path);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace tornfs
