// Paths: what a fault calls a file. LazyFS speaks of the directory that lies below its mount; here
// that is what was imported. A fault may also name a file by its path on the mount, by its path
// from the root of the mount, or by a pattern. An absolute path in a directory that is none of
// these is taken for one in the directory below, wherever that was.
#pragma once

#include <string>
#include <string_view>

namespace tornfs::harness::lazyfs {

class Paths {
 public:
  // Absolute paths; `below` may be empty.
  Paths(std::string mount, std::string below)
      : mount_(std::move(mount)), below_(std::move(below)) {}

  // Whether `named` in a fault means the file at `path`, from the root of the mount.
  [[nodiscard]] bool Means(const std::string& named, const std::string& path) const;
  // What logs and regular expressions see of it.
  [[nodiscard]] std::string Full(const std::string& path) const {
    return (below_.empty() ? mount_ : below_) + "/" + path;
  }

 private:
  std::string mount_;
  std::string below_;
};

}  // namespace tornfs::harness::lazyfs
