#include "fusefs/core/host_directory.h"

#include <dirent.h>
#include <fcntl.h>

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
