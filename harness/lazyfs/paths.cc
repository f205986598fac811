#include "harness/lazyfs/paths.h"

#include <fnmatch.h>

#include <utility>

namespace tornfs::harness::lazyfs {

bool Paths::Means(const std::string& named, const std::string& path) const {
  if (!named.starts_with('/')) return ::fnmatch(named.c_str(), path.c_str(), 0) == 0;
  for (const std::string* root : {&below_, &mount_}) {
    if (root->empty() || !named.starts_with(*root + "/")) continue;
    return ::fnmatch(named.c_str() + root->size() + 1, path.c_str(), 0) == 0;
  }
  return named.ends_with("/" + path);
}

}  // namespace tornfs::harness::lazyfs
