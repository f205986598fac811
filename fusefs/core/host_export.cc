// ExportTree: a Tree as a directory of the host.
//
// Directories are made with mode 0700 and get their own modes and times when everything is in
// place: what a directory forbids must not hinder the rest, and new names would change its times.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/check.h"
#include "common/log.h"
#include "fusefs/core/host_directory.h"
#include "fusefs/core/host_tree.h"

namespace tornfs {
namespace {

std::array<timespec, 2> TimesOf(const Inode& inode) {
  const auto spec = [](Nanoseconds time) {
    constexpr Nanoseconds kSecond = 1'000'000'000;
    const Nanoseconds rest = (time % kSecond + kSecond) % kSecond;
    return timespec{(time - rest) / kSecond, rest};
  };
  return {spec(inode.atime), spec(inode.mtime)};
}

class Exporter {
 public:
  Exporter(const Tree& tree, const ContentStore& store, std::string root)
      : tree_(tree), store_(store), root_path_(std::move(root)), owners_(::geteuid() == 0) {}

  Status Run();

 private:
  Status OpenRoot();
  Status Fill(Ino dir, int fd, const std::string& path);
  Status FillDirectory(Ino dir, int fd, const std::string& name, const std::string& path);
  Status MakeName(Ino ino, int fd, const std::string& name, const std::string& path);
  Status MakeFile(const Inode& inode, int fd, const std::string& name, const std::string& path);
  Status MakeSpecial(const Inode& inode, int fd, const std::string& name, const std::string& path);
  Status MakeLink(const std::vector<std::string>& first, int fd, const std::string& name,
                  const std::string& path);
  Status Contents(const Inode& inode, int file, const std::string& path);
  // Owner, mode and times of an open file or directory.
  Status Finish(const Inode& inode, int fd, const std::string& path);
  // Those that the host does not take are left out with one warning.
  template <class Set>
  void SetXattrs(const Inode& inode, const std::string& path, Set&& set);
  Status FinishDirectories(Ino dir, int fd, const std::string& path);

  const Tree& tree_;
  const ContentStore& store_;
  std::string root_path_;
  bool owners_;
  bool warned_ = false;
  Fd root_;
  std::vector<Ino> above_;                                  // The directories being filled.
  std::vector<std::string> at_;                             // Their names.
  std::unordered_map<Ino, std::vector<std::string>> made_;  // Where a file's first name is.
};

// `set` takes a name and a value and answers like setxattr(2).
template <class Set>
void Exporter::SetXattrs(const Inode& inode, const std::string& path, Set&& set) {
  for (auto xattr = inode.xattrs.Begin(); xattr.valid(); xattr.Next()) {
    if (set(xattr.key(), *xattr.value()) == 0 || warned_) continue;
    LogWarning("export: " + path + ": " + xattr.key() + " is left out: " + std::strerror(errno));
    warned_ = true;
  }
}

Status Exporter::Run() {
  if (auto opened = OpenRoot(); !opened) return opened;
  if (auto filled = Fill(kRootIno, root_.get(), root_path_); !filled) return filled;
  return FinishDirectories(kRootIno, root_.get(), root_path_);
}

Status Exporter::OpenRoot() {
  if (::mkdir(root_path_.c_str(), 0700) != 0 && errno != EEXIST) return IoError(errno, root_path_);
  auto fd = OpenFile(root_path_, O_RDONLY | O_DIRECTORY);
  if (!fd) return tl::make_unexpected(fd.error());
  root_ = std::move(*fd);
  const auto names = NamesIn(root_.get(), root_path_);
  if (!names) return tl::make_unexpected(names.error());
  if (names->empty()) return {};
  return Fail(ErrorCode::kInvalid, "export: " + root_path_ + " is not empty");
}

Status Exporter::Fill(Ino dir, int fd, const std::string& path) {
  if (std::ranges::find(above_, dir) != above_.end()) {
    return Fail(ErrorCode::kInvalid, "export: " + path + " contains itself");
  }
  above_.push_back(dir);
  for (auto entry = tree_.Find(dir)->entries.Begin(); entry.valid(); entry.Next()) {
    const std::string& name = entry.key().name;
    CHECK(!name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos);
    const Ino child = entry.value().ino;
    const std::string child_path = path + "/" + name;
    auto made = S_ISDIR(entry.value().type) ? FillDirectory(child, fd, name, child_path)
                                            : MakeName(child, fd, name, child_path);
    if (!made) return made;
  }
  above_.pop_back();
  return {};
}

Status Exporter::FillDirectory(Ino dir, int fd, const std::string& name, const std::string& path) {
  if (::mkdirat(fd, name.c_str(), 0700) != 0) return IoError(errno, path);
  auto child = OpenAt(fd, name, O_RDONLY | O_DIRECTORY, 0, path);
  if (!child) return tl::make_unexpected(child.error());
  at_.push_back(name);
  auto filled = Fill(dir, child->get(), path);
  at_.pop_back();
  return filled;
}

Status Exporter::MakeName(Ino ino, int fd, const std::string& name, const std::string& path) {
  const Inode& inode = *tree_.Find(ino);
  if (S_ISBLK(inode.mode) || S_ISCHR(inode.mode)) {
    LogWarning("export: " + path + " is a device node and is left out");
    return {};
  }
  if (const auto first = made_.find(ino); first != made_.end()) {
    return MakeLink(first->second, fd, name, path);
  }
  auto made =
      inode.IsRegular() ? MakeFile(inode, fd, name, path) : MakeSpecial(inode, fd, name, path);
  if (!made || inode.links <= 1) return made;
  std::vector<std::string> first = at_;
  first.push_back(name);
  made_.emplace(ino, std::move(first));
  return {};
}

Status Exporter::MakeLink(const std::vector<std::string>& first, int fd, const std::string& name,
                          const std::string& path) {
  // Opened step by step, so that no symbolic link is followed on the way.
  Fd step;
  int dir = root_.get();
  for (std::size_t i = 0; i + 1 < first.size(); ++i) {
    auto next = OpenAt(dir, first[i], O_RDONLY | O_DIRECTORY, 0, path);
    if (!next) return tl::make_unexpected(next.error());
    step = std::move(*next);
    dir = step.get();
  }
  if (::linkat(dir, first.back().c_str(), fd, name.c_str(), 0) != 0) return IoError(errno, path);
  return {};
}

Status Exporter::MakeFile(const Inode& inode, int fd, const std::string& name,
                          const std::string& path) {
  auto file = OpenAt(fd, name, O_WRONLY | O_CREAT | O_EXCL, 0600, path);
  if (!file) return tl::make_unexpected(file.error());
  if (::ftruncate(file->get(), static_cast<off_t>(inode.size)) != 0) return IoError(errno, path);
  if (auto written = Contents(inode, file->get(), path); !written) return written;
  return Finish(inode, file->get(), path);
}

Status Exporter::Contents(const Inode& inode, int file, const std::string& path) {
  int error = 0;
  inode.content.ForEach(0, inode.size, [&](std::uint64_t at, std::uint64_t n, ContentPosition p) {
    if (p == kZeros) return;
    const std::byte* from = store_.At(p);
    while (n > 0 && error == 0) {
      const ssize_t written = ::pwrite(file, from, n, static_cast<off_t>(at));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) {
        error = errno;
        return;
      }
      from += written;
      at += static_cast<std::uint64_t>(written);
      n -= static_cast<std::uint64_t>(written);
    }
  });
  if (error != 0) return IoError(error, path);
  return {};
}

Status Exporter::MakeSpecial(const Inode& inode, int fd, const std::string& name,
                             const std::string& path) {
  const bool symlink = S_ISLNK(inode.mode);
  const int made = symlink ? ::symlinkat(inode.target.c_str(), fd, name.c_str())
                           : ::mknodat(fd, name.c_str(), (inode.mode & S_IFMT) | 0600, 0);
  if (made != 0) return IoError(errno, path);
  const int flag = AT_SYMLINK_NOFOLLOW;
  if (owners_ && ::fchownat(fd, name.c_str(), inode.uid, inode.gid, flag) != 0) {
    return IoError(errno, path);
  }
  const std::string host_path = DescriptorPath(fd, name);
  SetXattrs(inode, path, [&](const std::string& xattr, const std::string& value) {
    return ::lsetxattr(host_path.c_str(), xattr.c_str(), value.data(), value.size(), 0);
  });
  if (!symlink && ::fchmodat(fd, name.c_str(), inode.mode & 07777, flag) != 0) {
    return IoError(errno, path);
  }
  if (::utimensat(fd, name.c_str(), TimesOf(inode).data(), flag) != 0) return IoError(errno, path);
  return {};
}

Status Exporter::Finish(const Inode& inode, int fd, const std::string& path) {
  // The owner first: a new owner clears the set-user-id bits.
  if (owners_ && ::fchown(fd, inode.uid, inode.gid) != 0) return IoError(errno, path);
  SetXattrs(inode, path, [&](const std::string& xattr, const std::string& value) {
    return ::fsetxattr(fd, xattr.c_str(), value.data(), value.size(), 0);
  });
  if (::fchmod(fd, inode.mode & 07777) != 0) return IoError(errno, path);
  if (::futimens(fd, TimesOf(inode).data()) != 0) return IoError(errno, path);
  return {};
}

Status Exporter::FinishDirectories(Ino dir, int fd, const std::string& path) {
  for (auto entry = tree_.Find(dir)->entries.Begin(); entry.valid(); entry.Next()) {
    if (!S_ISDIR(entry.value().type)) continue;
    const std::string& name = entry.key().name;
    const std::string child_path = path + "/" + name;
    auto child = OpenAt(fd, name, O_RDONLY | O_DIRECTORY, 0, child_path);
    if (!child) return tl::make_unexpected(child.error());
    auto finished = FinishDirectories(entry.value().ino, child->get(), child_path);
    if (!finished) return finished;
  }
  return Finish(*tree_.Find(dir), fd, path);
}

}  // namespace

Status ExportTree(const Tree& tree, const ContentStore& store, const std::string& directory) {
  return Exporter(tree, store, directory).Run();
}

}  // namespace tornfs
