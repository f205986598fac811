#include "harness/device/step_runner.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "common/units.h"
#include "harness/device/tree_text.h"

namespace tornfs::harness {
namespace {

constexpr unsigned kFileMode = 0644;
constexpr unsigned kFolderMode = 0755;

// A call that answers -1 and errno.
Status Call(long answer, const std::string& what) {
  if (answer < 0) return IoError(errno, what);
  return {};
}

off_t Number(const std::string& word) { return static_cast<off_t>(ParseNumber(word).value_or(0)); }

Status WriteBytes(int fd, std::string_view bytes, off_t offset) {
  const ssize_t written = ::pwrite(fd, bytes.data(), bytes.size(), offset);
  if (written < 0) return IoError(errno, "pwrite");
  if (static_cast<std::size_t>(written) != bytes.size()) return IoError(ENOSPC, "short write");
  return {};
}

}  // namespace

Result<StepRunner> StepRunner::Open(const std::string& directory) {
  auto fd = tornfs::OpenFile(directory, O_RDONLY | O_DIRECTORY);
  if (!fd) return tl::make_unexpected(fd.error());
  return StepRunner(std::move(*fd));
}

Result<int> StepRunner::OpenFileOf(const std::string& name, int more_flags) {
  const auto found = open_.find(name);
  if (found != open_.end() && more_flags == 0) return found->second.get();
  if (unnamed_.contains(name)) {
    if (more_flags == O_CREAT) return found->second.get();
    return Fail(ErrorCode::kInvalid, name + " has no name to be opened by again");
  }
  Fd fd(::openat(directory_.get(), name.c_str(), O_RDWR | O_CLOEXEC | more_flags, kFileMode));
  if (!fd.valid()) return IoError(errno, "open " + name);
  const int number = fd.get();
  open_[name] = std::move(fd);
  return number;
}

Status StepRunner::Write(const StepWords& step) {
  int flags = 0;
  off_t offset = -1;
  for (std::size_t i = 3; i < step.size(); ++i) {
    if (step[i] == "sync") flags = O_SYNC;
    if (step[i] == "dsync") flags = O_DSYNC;
    if (step[i].front() == '@') offset = Number(step[i].substr(1));
  }
  // In a litmus program the first write makes the file.
  struct stat status {};
  const bool exists = ::fstatat(directory_.get(), step[1].c_str(), &status, 0) == 0;
  const auto fd = OpenFileOf(step[1], exists ? flags : flags | O_CREAT);
  if (!fd) return tl::make_unexpected(fd.error());
  auto bytes = BytesOfRuns(step[2]);
  if (!bytes) return tl::make_unexpected(bytes.error());
  return WriteBytes(*fd, *bytes, offset >= 0 ? offset : ::lseek(*fd, 0, SEEK_END));
}

Status StepRunner::Store(const StepWords& step) {
  const auto fd = OpenFileOf(step[1]);
  if (!fd) return tl::make_unexpected(fd.error());
  auto bytes = BytesOfRuns(step[2]);
  if (!bytes) return tl::make_unexpected(bytes.error());
  const auto offset = static_cast<std::size_t>(Number(step[3].substr(1)));
  const std::size_t length = offset + bytes->size();
  void* map = ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
  if (map == MAP_FAILED) return IoError(errno, "mmap " + step[1]);
  std::memcpy(static_cast<char*>(map) + offset, bytes->data(), bytes->size());
  return Call(::munmap(map, length), "munmap " + step[1]);
}

Status StepRunner::Copy(const StepWords& step) {
  const auto from = OpenFileOf(step[1]);
  if (!from) return tl::make_unexpected(from.error());
  const auto to = OpenFileOf(step[2]);
  if (!to) return tl::make_unexpected(to.error());
  struct stat status {};
  if (::fstat(*from, &status) != 0) return IoError(errno, "stat " + step[1]);
  off_t at = 0;
  off_t into = 0;
  while (at < status.st_size) {
    const ssize_t copied =
        ::copy_file_range(*from, &at, *to, &into, static_cast<std::size_t>(status.st_size - at), 0);
    if (copied < 0) return IoError(errno, StepText(step));
    if (copied == 0) break;
  }
  return {};
}

Status StepRunner::SyncOne(const StepWords& step) {
  struct stat status {};
  const bool unnamed = unnamed_.contains(step[1]);
  if (!unnamed && ::fstatat(directory_.get(), step[1].c_str(), &status, 0) != 0) {
    return IoError(errno, StepText(step));
  }
  const bool data_only = step[0] == "fdatasync";
  if (unnamed || !S_ISDIR(status.st_mode)) {
    const auto fd = OpenFileOf(step[1]);
    if (!fd) return tl::make_unexpected(fd.error());
    return Call(data_only ? ::fdatasync(*fd) : ::fsync(*fd), StepText(step));
  }
  const Fd fd(::openat(directory_.get(), step[1].c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return IoError(errno, StepText(step));
  return Call(data_only ? ::fdatasync(fd.get()) : ::fsync(fd.get()), StepText(step));
}

Status StepRunner::Name(const StepWords& step) {
  const std::string& call = step[0];
  const char* name = step[1].c_str();
  const std::string text = StepText(step);
  const int top = directory_.get();
  if (call == "create") {
    const auto fd = OpenFileOf(step[1], O_CREAT | O_EXCL);
    return fd ? Status{} : tl::make_unexpected(fd.error());
  }
  if (call == "mkdir") return Call(::mkdirat(top, name, kFolderMode), text);
  if (call == "rmdir") return Call(::unlinkat(top, name, AT_REMOVEDIR), text);
  if (call == "tmpfile") return MakeUnnamed(step[1]);
  if (call == "symlink") return Call(::symlinkat(name, top, step[2].c_str()), text);
  if (call == "link" && unnamed_.contains(step[1])) {
    const std::string path = "/proc/self/fd/" + std::to_string(open_.at(step[1]).get());
    return Call(::linkat(AT_FDCWD, path.c_str(), top, step[2].c_str(), AT_SYMLINK_FOLLOW), text);
  }
  if (call == "link") return Call(::linkat(top, name, top, step[2].c_str(), 0), text);
  if (call == "unlink") {
    open_.erase(step[1]);
    return Call(::unlinkat(top, name, 0), text);
  }
  const Status done = Call(::renameat(top, name, top, step[2].c_str()), text);
  open_.erase(step[2]);
  auto moved = open_.extract(step[1]);
  if (!moved.empty()) open_[step[2]] = std::move(moved.mapped());
  return done;
}

Status StepRunner::MakeUnnamed(const std::string& called) {
  Fd fd(::openat(directory_.get(), ".", O_TMPFILE | O_RDWR | O_CLOEXEC, kFileMode));
  if (!fd.valid()) return IoError(errno, "open without a name");
  open_[called] = std::move(fd);
  unnamed_.insert(called);
  return {};
}

Status StepRunner::Change(const StepWords& step) {
  const std::string& call = step[0];
  const std::string text = StepText(step);
  if (call == "chmod") {
    const auto mode = static_cast<mode_t>(std::strtoul(step[2].c_str(), nullptr, 8));
    return Call(::fchmodat(directory_.get(), step[1].c_str(), mode, 0), text);
  }
  const auto fd = OpenFileOf(step[1]);
  if (!fd) return tl::make_unexpected(fd.error());
  if (call == "truncate") return Call(::ftruncate(*fd, Number(step[2])), text);
  if (call == "setxattr") {
    return Call(::fsetxattr(*fd, step[2].c_str(), step[3].data(), step[3].size(), 0), text);
  }
  int mode = call == "punch" ? FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE : 0;
  if (step.back() == "keep") mode = FALLOC_FL_KEEP_SIZE;
  return Call(::fallocate(*fd, mode, Number(step[2]), Number(step[3])), text);
}

Status StepRunner::Run(const StepWords& step) {
  const std::string& call = step[0];
  const auto is_one_of = [&](std::initializer_list<std::string_view> calls) {
    return std::find(calls.begin(), calls.end(), call) != calls.end();
  };
  if (call == "write") return Write(step);
  if (call == "store") return Store(step);
  if (call == "copy") return Copy(step);
  if (call == "sync") return SyncAll();
  if (is_one_of({"fsync", "fdatasync"})) return SyncOne(step);
  if (is_one_of({"create", "mkdir", "rmdir", "symlink", "link", "unlink", "rename", "tmpfile"})) {
    return Name(step);
  }
  if (is_one_of({"chmod", "truncate", "setxattr", "allocate", "punch"})) return Change(step);
  if (call != "close") return Fail(ErrorCode::kInvalid, "no such step: " + StepText(step));
  open_.erase(step[1]);
  return {};
}

Status StepRunner::SyncAnother() {
  const std::string name = std::string(kOtherFolder) + "/z" + std::to_string(++others_);
  const Fd fd(::openat(directory_.get(), name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kFileMode));
  if (!fd.valid()) return IoError(errno, "create " + name);
  const Status written = WriteBytes(fd.get(), "zzzzzzzzzz", 0);
  if (!written) return written;
  return Call(::fsync(fd.get()), "fsync " + name);
}

Status StepRunner::WriteBack() {
  return ForEachEntry(directory_.get(), [](const TreeEntry& entry) -> Status {
    if (!S_ISREG(entry.status.st_mode)) return {};
    const Fd fd(::openat(entry.folder, entry.name, O_RDWR | O_CLOEXEC));
    if (!fd.valid()) return IoError(errno, "open " + entry.path);
    constexpr unsigned kAndWait =
        SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
    return Call(::sync_file_range(fd.get(), 0, 0, kAndWait), "sync_file_range " + entry.path);
  });
}

Status StepRunner::SyncAll() { return Call(::syncfs(directory_.get()), "syncfs"); }

}  // namespace tornfs::harness
