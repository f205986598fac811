#include "harness/device/tree_text.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <vector>

#include "common/fd.h"
#include "harness/device/step_runner.h"

namespace tornfs::harness {
namespace {

constexpr mode_t kPermissions = 07777;
constexpr mode_t kUsualFile = 0644;
constexpr mode_t kUsualFolder = 0755;

Status Visit(int folder, const std::string& prefix,
             const std::function<Status(const TreeEntry&)>& visit) {
  // fdopendir takes the descriptor that it is given.
  const int own = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (own < 0) return IoError(errno, "open " + prefix);
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(own), ::closedir);
  if (stream == nullptr) return IoError(errno, "fdopendir " + prefix);
  while (true) {
    errno = 0;
    const dirent* entry = ::readdir(stream.get());
    if (entry == nullptr) break;
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (prefix.empty() && (name == kOtherFolder || name == "lost+found")) continue;
    const std::string path = prefix + name;
    struct stat status {};
    if (::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
      return IoError(errno, "stat " + path);
    }
    const Status visited = visit({path, folder, name.c_str(), status});
    if (!visited) return visited;
    if (!S_ISDIR(status.st_mode)) continue;
    const Fd below(::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!below.valid()) return IoError(errno, "open " + path);
    const Status inside = Visit(below.get(), path + "/", visit);
    if (!inside) return inside;
  }
  if (errno != 0) return IoError(errno, "readdir " + prefix);
  return {};
}

char Letter(char byte) {
  if (byte == 0) return '0';
  return std::isalpha(static_cast<unsigned char>(byte)) != 0 ? byte : '?';
}

void AppendAttributes(int fd, std::string& text) {
  std::array<char, 1024> names{};
  const ssize_t length = ::flistxattr(fd, names.data(), names.size());
  for (ssize_t at = 0; at < length;) {
    const std::string name(names.data() + at);
    if (name.starts_with("user.")) text += " x" + name;
    at += static_cast<ssize_t>(name.size()) + 1;
  }
}

std::string ModeText(unsigned mode, unsigned usual) {
  if (mode == usual) return {};
  std::array<char, 16> octal{};
  (void)std::snprintf(octal.data(), octal.size(), " m%o", mode);
  return octal.data();
}

Result<std::string> EntryText(const TreeEntry& entry) {
  const mode_t mode = entry.status.st_mode & kPermissions;
  if (S_ISDIR(entry.status.st_mode)) return "D" + ModeText(mode, kUsualFolder);
  if (S_ISLNK(entry.status.st_mode)) {
    std::array<char, 4096> target{};
    const ssize_t length = ::readlinkat(entry.folder, entry.name, target.data(), target.size());
    if (length < 0) return IoError(errno, "readlink " + entry.path);
    return "L[" + std::string(target.data(), static_cast<std::size_t>(length)) + "]";
  }
  if (!S_ISREG(entry.status.st_mode)) return std::string("other");
  const Fd fd(::openat(entry.folder, entry.name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd.valid()) return IoError(errno, "open " + entry.path);
  auto content = ReadAll(fd.get());
  if (!content) return tl::make_unexpected(content.error());
  std::string text = FileText(*content, entry.status.st_nlink, mode);
  AppendAttributes(fd.get(), text);
  return text;
}

}  // namespace

Status ForEachEntry(int top, const std::function<Status(const TreeEntry&)>& visit) {
  return Visit(top, "", visit);
}

std::string TreeText(std::vector<NamedTreeEntry> entries) {
  std::sort(entries.begin(), entries.end(),
            [](const NamedTreeEntry& a, const NamedTreeEntry& b) { return a.path < b.path; });
  std::string line = "{";
  for (const NamedTreeEntry& entry : entries) {
    if (line.size() > 1) line += "; ";
    line += entry.path + "=" + entry.text;
  }
  return line + "}";
}

std::string FileText(std::span<const char> bytes, std::uint64_t links, unsigned mode) {
  std::string text = "F[" + RunsText(bytes) + "]";
  if (links != 1) text += " nl" + std::to_string(links);
  return text + ModeText(mode, kUsualFile);
}

std::string RunsText(std::span<const char> bytes) {
  std::string text;
  for (std::size_t at = 0; at < bytes.size();) {
    const char letter = Letter(bytes[at]);
    std::size_t end = at + 1;
    while (end < bytes.size() && Letter(bytes[end]) == letter) ++end;
    if (!text.empty()) text += ' ';
    text += letter;
    text += "*" + std::to_string(end - at);
    at = end;
  }
  return text;
}

Result<std::string> ReadTreeText(const std::string& directory) {
  auto top = OpenFile(directory, O_RDONLY | O_DIRECTORY);
  if (!top) return tl::make_unexpected(top.error());
  std::vector<NamedTreeEntry> entries;
  const Status read = ForEachEntry(top->get(), [&](const TreeEntry& entry) -> Status {
    auto text = EntryText(entry);
    if (!text) return tl::make_unexpected(text.error());
    entries.push_back({entry.path, std::move(*text)});
    return {};
  });
  if (!read) return tl::make_unexpected(read.error());
  return TreeText(std::move(entries));
}

}  // namespace tornfs::harness
