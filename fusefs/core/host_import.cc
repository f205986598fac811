// ImportDirectory: a directory of the host as a Tree.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "common/log.h"
#include "fusefs/core/host_directory.h"
#include "fusefs/core/host_tree.h"

namespace tornfs {
namespace {

constexpr std::size_t kCopyBytes = 1 << 20;

Inode InodeOf(const struct stat& status) {
  Inode inode;
  inode.mode = status.st_mode;
  inode.uid = status.st_uid;
  inode.gid = status.st_gid;
  inode.mtime = Nanoseconds{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
  inode.atime = inode.ctime = inode.btime = inode.mtime;
  return inode;
}

// `path` is not followed.
void AddXattrs(const std::string& path, Inode& inode) {
  for (auto& [name, value] : HostXattrs(path)) {
    inode.xattrs.Set(name, std::make_shared<const std::string>(std::move(value)));
  }
}

class Importer {
 public:
  explicit Importer(ContentStore& store) : store_(store), buffer_(kCopyBytes) {}

  Status Root(const std::string& directory);
  [[nodiscard]] ImportedTree Take() { return std::move(imported_); }

 private:
  Status Fill(Ino dir, int fd, const std::string& path);
  Status AddName(Ino dir, int fd, const std::string& name, const std::string& path);
  Status AddDirectory(Ino dir, int fd, const std::string& name, const std::string& path);
  Result<Inode> File(int fd, const std::string& name, const std::string& path);
  Result<Inode> Symlink(int fd, const std::string& name, const struct stat& status,
                        const std::string& path);
  Status Contents(int file, const std::string& path, Inode& inode);
  Status CopyRange(int file, std::uint64_t begin, std::uint64_t end, const std::string& path,
                   ExtentMap& content);
  // `fd` is the directory of the host that has `name`.
  Ino AddInode(Ino dir, int fd, const std::string& name, Inode inode);

  ContentStore& store_;
  std::vector<std::byte> buffer_;
  ImportedTree imported_;
  std::map<std::pair<dev_t, ino_t>, Ino> linked_;  // Files that have other names.
};

Status Importer::Root(const std::string& directory) {
  auto fd = OpenFile(directory, O_RDONLY | O_DIRECTORY);
  if (!fd) return tl::make_unexpected(fd.error());
  struct stat status {};
  if (::fstat(fd->get(), &status) != 0) return IoError(errno, directory);
  Inode root = InodeOf(status);
  root.links = 1;
  AddXattrs(DescriptorPath(fd->get(), "."), root);
  imported_.tree.Add(kRootIno, std::move(root));
  return Fill(kRootIno, fd->get(), directory);
}

Status Importer::Fill(Ino dir, int fd, const std::string& path) {
  const auto names = NamesIn(fd, path);
  if (!names) return tl::make_unexpected(names.error());
  for (const std::string& name : *names) {
    if (auto added = AddName(dir, fd, name, path + "/" + name); !added) return added;
  }
  return {};
}

Ino Importer::AddInode(Ino dir, int fd, const std::string& name, Inode inode) {
  const Ino ino = imported_.next_ino++;
  AddXattrs(DescriptorPath(fd, name), inode);
  imported_.tree.Add(ino, std::move(inode));
  (void)imported_.tree.SetEntry(dir, name, ino);
  return ino;
}

Status Importer::AddName(Ino dir, int fd, const std::string& name, const std::string& path) {
  struct stat status {};
  if (::fstatat(fd, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return IoError(errno, path);
  if (S_ISDIR(status.st_mode)) return AddDirectory(dir, fd, name, path);
  if (S_ISBLK(status.st_mode) || S_ISCHR(status.st_mode)) {
    LogWarning("import: " + path + " is a device node and is left out");
    return {};
  }
  const std::pair key{status.st_dev, status.st_ino};
  if (const auto other = linked_.find(key); other != linked_.end()) {
    (void)imported_.tree.SetEntry(dir, name, other->second);
    return {};
  }
  Result<Inode> inode = S_ISREG(status.st_mode)   ? File(fd, name, path)
                        : S_ISLNK(status.st_mode) ? Symlink(fd, name, status, path)
                                                  : InodeOf(status);
  if (!inode) return tl::make_unexpected(inode.error());
  const Ino ino = AddInode(dir, fd, name, std::move(*inode));
  if (status.st_nlink > 1) linked_.emplace(key, ino);
  return {};
}

Status Importer::AddDirectory(Ino dir, int fd, const std::string& name, const std::string& path) {
  auto child = OpenAt(fd, name, O_RDONLY | O_DIRECTORY, 0, path);
  if (!child) return tl::make_unexpected(child.error());
  struct stat status {};
  if (::fstat(child->get(), &status) != 0) return IoError(errno, path);
  return Fill(AddInode(dir, fd, name, InodeOf(status)), child->get(), path);
}

Result<Inode> Importer::Symlink(int fd, const std::string& name, const struct stat& status,
                                const std::string& path) {
  std::string target(kPageBytes, '\0');
  const ssize_t length = ::readlinkat(fd, name.c_str(), target.data(), target.size());
  if (length < 0) return IoError(errno, path);
  target.resize(static_cast<std::size_t>(length));
  Inode inode = InodeOf(status);
  inode.target = std::move(target);
  return inode;
}

Result<Inode> Importer::File(int fd, const std::string& name, const std::string& path) {
  // Not blocking, should a fifo have taken the name since it was looked at.
  auto file = OpenAt(fd, name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, path);
  if (!file) return tl::make_unexpected(file.error());
  struct stat status {};
  if (::fstat(file->get(), &status) != 0) return IoError(errno, path);
  if (!S_ISREG(status.st_mode))
    return Fail(ErrorCode::kInvalid, path + " changed while being read");
  Inode inode = InodeOf(status);
  inode.size = static_cast<std::uint64_t>(status.st_size);
  if (inode.size > kMaxFileBytes) return Fail(ErrorCode::kInvalid, path + " is too large");
  if (auto read = Contents(file->get(), path, inode); !read) {
    return tl::make_unexpected(read.error());
  }
  return inode;
}

Status Importer::Contents(int file, const std::string& path, Inode& inode) {
  std::uint64_t at = 0;
  while (at < inode.size) {
    const off_t data = ::lseek(file, static_cast<off_t>(at), SEEK_DATA);
    if (data < 0 && errno == ENXIO) break;  // A hole up to the end.
    if (data < 0) return IoError(errno, path);
    const off_t hole = ::lseek(file, data, SEEK_HOLE);
    if (hole < 0) return IoError(errno, path);
    at = std::min(static_cast<std::uint64_t>(hole), inode.size);
    if (auto copied = CopyRange(file, static_cast<std::uint64_t>(data), at, path, inode.content);
        !copied) {
      return copied;
    }
  }
  return {};
}

Status Importer::CopyRange(int file, std::uint64_t begin, std::uint64_t end,
                           const std::string& path, ExtentMap& content) {
  while (begin < end) {
    const std::uint64_t wanted = std::min<std::uint64_t>(end - begin, buffer_.size());
    const ssize_t n = ::pread(file, buffer_.data(), wanted, static_cast<off_t>(begin));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return IoError(errno, path);
    if (n == 0) return Fail(ErrorCode::kInvalid, path + " changed while being read");
    const auto bytes = std::span<const std::byte>(buffer_).first(static_cast<std::size_t>(n));
    const auto position = store_.Append(bytes);
    if (!position) return IoError(static_cast<int>(position.error()), path);
    content.Write(begin, bytes.size(), *position);
    begin += bytes.size();
  }
  return {};
}

}  // namespace

Result<ImportedTree> ImportDirectory(ContentStore& store, const std::string& directory) {
  Importer importer(store);
  if (auto done = importer.Root(directory); !done) return tl::make_unexpected(done.error());
  return importer.Take();
}

}  // namespace tornfs
