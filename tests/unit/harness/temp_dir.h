// A folder that vanishes with the test.
#pragma once

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace tornfs::harness {

class TempDir {
 public:
  // `parent` must exist. Everybody may write in the new folder.
  explicit TempDir(const std::string& parent = "/tmp") : path_(parent + "/tornfs-test-XXXXXX") {
    if (::mkdtemp(path_.data()) == nullptr) std::abort();
    (void)::chmod(path_.c_str(), 0777);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace tornfs::harness
