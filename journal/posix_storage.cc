#include "journal/posix_storage.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

#include "common/check.h"

namespace tornfs::journal {
namespace {

class PosixFile final : public File {
 public:
  PosixFile(Fd fd, std::string path, std::shared_ptr<IoCounts> counts)
      : fd_(std::move(fd)), path_(std::move(path)), counts_(std::move(counts)) {}

  Result<std::size_t> ReadAt(std::uint64_t at, std::span<std::byte> out) override {
    std::size_t done = 0;
    while (done < out.size()) {
      const ssize_t n =
          ::pread(fd_.get(), out.data() + done, out.size() - done, static_cast<off_t>(at + done));
      if (n == 0) break;
      if (n < 0) {
        if (errno == EINTR) continue;
        return IoFailure(errno, "read " + path_);
      }
      done += static_cast<std::size_t>(n);
    }
    return done;
  }

  Status WriteAt(std::uint64_t at, std::span<const std::byte> bytes) override {
    std::size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t n = ::pwrite(fd_.get(), bytes.data() + done, bytes.size() - done,
                                 static_cast<off_t>(at + done));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return IoFailure(n < 0 ? errno : EIO, "write " + path_);
      done += static_cast<std::size_t>(n);
      Count(static_cast<std::size_t>(n));
    }
    return {};
  }

  Status WriteParts(std::uint64_t at, std::span<const std::span<const std::byte>> parts) override {
    CHECK(parts.size() <= kVectorPartsMax);
    std::vector<iovec> vector;
    vector.reserve(parts.size());
    for (const auto& part : parts) {
      vector.push_back({const_cast<std::byte*>(part.data()), part.size()});
    }
    std::size_t first = 0;
    while (first < vector.size()) {
      const ssize_t n = ::pwritev(fd_.get(), vector.data() + first,
                                  static_cast<int>(vector.size() - first), static_cast<off_t>(at));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return IoFailure(n < 0 ? errno : EIO, "write " + path_);
      at += static_cast<std::uint64_t>(n);
      Count(static_cast<std::size_t>(n));
      Skip(vector, first, static_cast<std::size_t>(n));
    }
    return {};
  }

  Result<std::uint64_t> Length() override {
    struct stat status;
    if (::fstat(fd_.get(), &status) != 0) return IoFailure(errno, "stat " + path_);
    return static_cast<std::uint64_t>(status.st_size);
  }

  Status Truncate(std::uint64_t length) override {
    int result = 0;
    do {
      result = ::ftruncate(fd_.get(), static_cast<off_t>(length));
    } while (result != 0 && errno == EINTR);
    if (result != 0) return IoFailure(errno, "truncate " + path_);
    return {};
  }

  // Not repeated after EINTR: whether the first attempt consumed a writeback error is unknown.
  Status Sync() override {
    ++counts_->barriers;
    if (::fdatasync(fd_.get()) != 0) return IoFailure(errno, "fdatasync " + path_);
    return {};
  }

  void Preallocate(std::uint64_t length) override {
    (void)::fallocate(fd_.get(), FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(length));
  }

 private:
  // Takes `done` bytes off the front of vector[first...].
  static void Skip(std::vector<iovec>& vector, std::size_t& first, std::size_t done) {
    while (first < vector.size() && done >= vector[first].iov_len) done -= vector[first++].iov_len;
    if (first == vector.size()) return;
    vector[first].iov_base = static_cast<std::byte*>(vector[first].iov_base) + done;
    vector[first].iov_len -= done;
  }

  Fd fd_;
  void Count(std::size_t bytes) {
    ++counts_->writes;
    counts_->bytes += bytes;
  }

  std::string path_;
  std::shared_ptr<IoCounts> counts_;
};

int OpenFlags(OpenMode mode) {
  switch (mode) {
    case OpenMode::kRead: return O_RDONLY | O_NONBLOCK | O_CLOEXEC;  // A FIFO must not hang us.
    case OpenMode::kReadWrite: return O_RDWR | O_NONBLOCK | O_CLOEXEC;
    case OpenMode::kCreate: return O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC;
    case OpenMode::kEnsure: return O_RDWR | O_CREAT | O_CLOEXEC;
  }
  return O_RDONLY | O_CLOEXEC;
}

std::string ParentOf(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

EntryType TypeOf(int directory, const dirent& entry) {
  switch (entry.d_type) {
    case DT_REG: return EntryType::kFile;
    case DT_DIR: return EntryType::kDirectory;
    case DT_UNKNOWN: break;
    default: return EntryType::kOther;
  }
  struct stat status;
  if (::fstatat(directory, entry.d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
    return EntryType::kOther;
  }
  if (S_ISREG(status.st_mode)) return EntryType::kFile;
  return S_ISDIR(status.st_mode) ? EntryType::kDirectory : EntryType::kOther;
}

Result<std::vector<DirectoryEntry>> ListFolder(const std::string& path) {
  // A descriptor of its own: fdopendir takes ownership and moves the position.
  Fd opened(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened.valid()) return IoFailure(errno, "open " + path);
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(opened.get()), ::closedir);
  if (!stream) return IoFailure(errno, "list " + path);
  const int directory = opened.Release();
  std::vector<DirectoryEntry> entries;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(stream.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") {
      entries.push_back({std::string(name), TypeOf(directory, *entry)});
    }
  }
  if (errno != 0) return IoFailure(errno, "list " + path);
  return entries;
}

// Makes the names in a folder durable.
Status SyncFolder(const std::string& path) {
  const Fd opened(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened.valid()) return IoFailure(errno, "open " + path);
  if (::fsync(opened.get()) != 0) return IoFailure(errno, "fsync " + path);
  return {};
}

}  // namespace

Result<int> PosixStorage::Directory() {
  if (!directory_.valid()) {
    Fd opened(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!opened.valid()) return IoFailure(errno, "open " + path_);
    directory_ = std::move(opened);
  }
  return directory_.get();
}

Status PosixStorage::CreateDirectory() {
  if (::mkdir(path_.c_str(), 0755) != 0 && errno != EEXIST) {
    return IoFailure(errno, "mkdir " + path_);
  }
  return SyncFolder(ParentOf(path_));
}

Status PosixStorage::Lock(const std::string& name) {
  const auto directory = Directory();
  if (!directory) return tl::make_unexpected(directory.error());
  Fd opened(::openat(*directory, name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!opened.valid()) return IoFailure(errno, "open " + PathOf(name));
  int result = 0;
  do {
    result = ::flock(opened.get(), LOCK_EX | LOCK_NB);
  } while (result != 0 && errno == EINTR);
  if (result != 0 && errno == EWOULDBLOCK) {
    return Fail(ErrorKind::kLocked, path_ + " is locked by another process");
  }
  if (result != 0) return IoFailure(errno, "lock " + PathOf(name));
  lock_ = std::move(opened);
  return {};
}

Result<std::unique_ptr<File>> PosixStorage::Open(const std::string& name, OpenMode mode) {
  const auto directory = Directory();
  if (!directory) return tl::make_unexpected(directory.error());
  Fd opened(::openat(*directory, name.c_str(), OpenFlags(mode), 0644));
  if (!opened.valid()) return IoFailure(errno, "open " + PathOf(name));
  return std::make_unique<PosixFile>(std::move(opened), PathOf(name), counts_);
}

Result<std::vector<DirectoryEntry>> PosixStorage::List() { return ListFolder(path_); }

Result<std::vector<DirectoryEntry>> PosixStorage::ListPartition() {
  return ListFolder(path_ + "/..");
}

Status PosixStorage::Rename(const std::string& from, const std::string& to) {
  const auto directory = Directory();
  if (!directory) return tl::make_unexpected(directory.error());
  if (::renameat(*directory, from.c_str(), *directory, to.c_str()) != 0) {
    return IoFailure(errno, "rename " + PathOf(from) + " to " + to);
  }
  return {};
}

Status PosixStorage::Unlink(const std::string& name) {
  const auto directory = Directory();
  if (!directory) return tl::make_unexpected(directory.error());
  if (::unlinkat(*directory, name.c_str(), 0) != 0)
    return IoFailure(errno, "unlink " + PathOf(name));
  return {};
}

Status PosixStorage::Link(const std::string& from, const std::string& to) {
  const auto directory = Directory();
  if (!directory) return tl::make_unexpected(directory.error());
  if (::linkat(*directory, from.c_str(), *directory, to.c_str(), 0) != 0) {
    return IoFailure(errno, "link " + PathOf(from) + " to " + to);
  }
  return {};
}

Result<bool> PosixStorage::SameFile(const std::string& a, const std::string& b) {
  const auto directory = Directory();
  if (!directory) return tl::make_unexpected(directory.error());
  struct stat found[2];
  const std::string* const names[2] = {&a, &b};
  for (int i = 0; i < 2; ++i) {
    if (::fstatat(*directory, names[i]->c_str(), &found[i], AT_SYMLINK_NOFOLLOW) == 0) continue;
    if (errno == ENOENT) return false;
    return IoFailure(errno, "stat " + PathOf(*names[i]));
  }
  return found[0].st_dev == found[1].st_dev && found[0].st_ino == found[1].st_ino;
}

Status PosixStorage::SyncDirectory() {
  const auto directory = Directory();
  if (!directory) return tl::make_unexpected(directory.error());
  ++counts_->barriers;
  if (::fsync(*directory) != 0) return IoFailure(errno, "fsync " + path_);
  return {};
}

Status PosixStorage::SyncPartition() {
  ++counts_->barriers;
  return SyncFolder(path_ + "/..");
}

}  // namespace tornfs::journal
