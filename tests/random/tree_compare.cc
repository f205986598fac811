#include "tree_compare.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "common/fd.h"

namespace tornfs {
namespace {

std::set<std::string> NamesIn(const std::string& path) {
  std::set<std::string> names;
  DIR* list = opendir(path.c_str());
  if (list == nullptr) return names;
  while (const dirent* entry = readdir(list)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.insert(name);
  }
  closedir(list);
  return names;
}

std::map<std::string, std::string> XattrsOf(const std::string& path) {
  std::vector<char> list(65536);
  const ssize_t length = llistxattr(path.c_str(), list.data(), list.size());
  std::map<std::string, std::string> xattrs;
  for (const char* at = list.data(); length > 0 && at < list.data() + length;
       at += std::strlen(at) + 1) {
    std::vector<char> value(65536);
    const ssize_t got = lgetxattr(path.c_str(), at, value.data(), value.size());
    if (got >= 0) xattrs[at] = std::string(value.data(), static_cast<std::size_t>(got));
  }
  return xattrs;
}

std::optional<std::string> ContentOf(const std::string& path) {
  const auto text = ReadFile(path, std::size_t{1} << 30);
  return text ? std::optional(*text) : std::nullopt;
}

std::string Attributes(const struct stat& status) {
  std::string text = "mode " + std::to_string(status.st_mode) + " owner " +
                     std::to_string(status.st_uid) + ":" + std::to_string(status.st_gid) +
                     " links " + std::to_string(status.st_nlink) + " device " +
                     std::to_string(status.st_rdev);
  if (!S_ISDIR(status.st_mode)) text += " size " + std::to_string(status.st_size);
  return text;
}

std::string TargetOf(const std::string& path) {
  std::vector<char> target(4096);
  const ssize_t length = readlink(path.c_str(), target.data(), target.size());
  return length < 0 ? std::string() : std::string(target.data(), static_cast<std::size_t>(length));
}

std::string CompareContents(const std::string& one, const std::string& other) {
  const auto a = ContentOf(one);
  const auto b = ContentOf(other);
  if (!a || !b) return a.has_value() == b.has_value() ? "" : one + " cannot be read on one side";
  if (*a == *b) return {};
  const auto at = std::mismatch(a->begin(), a->end(), b->begin(), b->end()).first - a->begin();
  return one + " differs from byte " + std::to_string(at) + " on";
}

std::string CompareOne(const std::string& one, const std::string& other) {
  struct stat a {};
  struct stat b {};
  if (lstat(one.c_str(), &a) != 0 || lstat(other.c_str(), &b) != 0) return one + " is gone";
  if (Attributes(a) != Attributes(b)) {
    return one + ": " + Attributes(a) + " but " + other + ": " + Attributes(b);
  }
  if (XattrsOf(one) != XattrsOf(other)) return one + " has other attributes";
  if (S_ISLNK(a.st_mode) && TargetOf(one) != TargetOf(other)) return one + " leads elsewhere";
  if (S_ISREG(a.st_mode)) return CompareContents(one, other);
  return {};
}

}  // namespace

std::string CompareTrees(const std::string& one, const std::string& other) {
  std::vector<std::string> waiting{""};
  while (!waiting.empty()) {
    const std::string at = waiting.back();
    waiting.pop_back();
    if (auto differs = CompareOne(one + at, other + at); !differs.empty()) return differs;
    const auto names = NamesIn(one + at);
    if (names != NamesIn(other + at)) return one + at + " has other names than " + other + at;
    for (const std::string& name : names) waiting.push_back(at + "/" + name);
  }
  return {};
}

}  // namespace tornfs
