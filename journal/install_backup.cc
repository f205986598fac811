#include "journal/install_backup.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <vector>

#include "common/fd.h"
#include "journal/format.h"

namespace tornfs::journal {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBuilding = ".install-building";
constexpr std::string_view kBackup = ".install-backup";
constexpr std::string_view kRetired = ".install-retired";
constexpr std::size_t kCopyBytes = 1ULL << 20;

enum class Transfer { kLink, kCopy };

tl::unexpected<Error> Failure(const std::error_code& error, const std::string& what,
                              const fs::path& path) {
  return IoFailure(error.value(), what + " " + path.string());
}

bool IsOurs(const std::string& name) {
  return name == kBuilding || name == kBackup || name == kRetired;
}

bool IsScratch(const std::string& name) {
  return name == kLockName || name.ends_with(".tmp") || name.ends_with(".staging");
}

Status SyncPath(const fs::path& path, int flags) {
  const Fd opened(::open(path.c_str(), flags | O_CLOEXEC));
  if (!opened.valid()) return IoFailure(errno, "open " + path.string());
  if (::fsync(opened.get()) != 0) return IoFailure(errno, "fsync " + path.string());
  return {};
}

Status SyncFolder(const fs::path& path) { return SyncPath(path, O_RDONLY | O_DIRECTORY); }

// In the order of their names, so that the same folder is always treated the same way.
Result<std::vector<fs::path>> Children(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> children;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    children.push_back(at->path());
  }
  if (error) return Failure(error, "list", folder);
  std::sort(children.begin(), children.end());
  return children;
}

Status CopyOne(const fs::path& from, const fs::path& to) {
  const Fd in(::open(from.c_str(), O_RDONLY | O_CLOEXEC));
  if (!in.valid()) return IoFailure(errno, "open " + from.string());
  const Fd out(::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!out.valid()) return IoFailure(errno, "create " + to.string());
  std::vector<std::byte> buffer(kCopyBytes);
  for (;;) {
    const ssize_t got = ::read(in.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return IoFailure(errno, "read " + from.string());
    if (got == 0) break;
    const auto written =
        WriteAll(out.get(), std::span(buffer).first(static_cast<std::size_t>(got)));
    if (!written) return IoFailure(written.error().sys_errno, "write " + to.string());
  }
  if (::fsync(out.get()) != 0) return IoFailure(errno, "fsync " + to.string());
  return {};
}

Status LinkOne(const fs::path& from, const fs::path& to) {
  if (from.filename() == kFrontierName) return CopyOne(from, to);
  if (::link(from.c_str(), to.c_str()) != 0) return IoFailure(errno, "link " + to.string());
  return SyncPath(to, O_RDONLY);
}

// Fills the folder `to`, bottom up, and syncs it. `skip_scratch` leaves scratch files out.
Status Fill(const fs::path& from, const fs::path& to, Transfer transfer, bool skip_scratch) {
  const auto children = Children(from);
  if (!children) return tl::make_unexpected(children.error());
  for (const fs::path& child : *children) {
    const std::string name = child.filename().string();
    if (IsOurs(name) || (skip_scratch && IsScratch(name))) continue;
    std::error_code error;
    if (fs::is_directory(fs::symlink_status(child, error))) {
      if (!fs::create_directory(to / name, error)) return Failure(error, "create", to / name);
      JOURNAL_TRY(Fill(child, to / name, transfer, skip_scratch));
    } else {
      JOURNAL_TRY(transfer == Transfer::kLink ? LinkOne(child, to / name)
                                              : CopyOne(child, to / name));
    }
  }
  return SyncFolder(to);
}

Status RemoveTree(const fs::path& path) {
  std::error_code error;
  if (fs::symlink_status(path, error).type() == fs::file_type::not_found) return {};
  fs::remove_all(path, error);
  if (error) return Failure(error, "remove", path);
  return {};
}

Status RenamePath(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (error) return Failure(error, "rename", from);
  return {};
}

fs::path FolderAbove(const fs::path& path) {
  const fs::path above = fs::absolute(path).lexically_normal();
  return above.has_filename() ? above.parent_path() : above.parent_path().parent_path();
}

}  // namespace

std::string InstallBackup::path() const { return (fs::path(folder_) / kBackup).string(); }

bool InstallBackup::Exists() const { return ::access(path().c_str(), F_OK) == 0; }

bool InstallBackup::Pending() const {
  const fs::path folder(folder_);
  return Exists() || ::access((folder / kBuilding).c_str(), F_OK) == 0 ||
         ::access((folder / kRetired).c_str(), F_OK) == 0;
}

Status InstallBackup::RemoveLeftovers() {
  const fs::path folder(folder_);
  JOURNAL_TRY(RemoveTree(folder / kBuilding));
  return RemoveTree(folder / kRetired);
}

Status InstallBackup::Begin() {
  if (Exists())
    return Fail(ErrorKind::kInvalid, path() + " exists: an earlier change is unfinished");
  JOURNAL_TRY(RemoveLeftovers());
  const fs::path building = fs::path(folder_) / kBuilding;
  std::error_code error;
  if (!fs::create_directory(building, error)) return Failure(error, "create", building);
  JOURNAL_TRY(Fill(folder_, building, Transfer::kLink, true));
  JOURNAL_TRY(SyncFolder(folder_));
  JOURNAL_TRY(RenamePath(building, path()));
  return SyncFolder(folder_);
}

Status InstallBackup::Clear() {
  const auto children = Children(folder_);
  if (!children) return tl::make_unexpected(children.error());
  for (const fs::path& child : *children) {
    const std::string name = child.filename().string();
    if (!IsOurs(name) && name != kLockName) JOURNAL_TRY(RemoveTree(child));
  }
  return {};
}

// From the rename on the new content counts; deleting the old one can be finished at any time.
Status InstallBackup::Finish() {
  JOURNAL_TRY(RenamePath(path(), fs::path(folder_) / kRetired));
  JOURNAL_TRY(SyncFolder(folder_));
  return RemoveLeftovers();
}

// A process that was killed may have renamed without syncing: what goes by the new name must not be
// deleted while a power loss could still bring the old one back.
Result<bool> InstallBackup::Recover(const Rules& rules) {
  if (!Pending()) return false;
  if (rules.On(Rule::kSyncBackupBeforeRecovery)) JOURNAL_TRY(SyncFolder(folder_));
  if (Exists()) {
    JOURNAL_TRY(RemoveLeftovers());
    JOURNAL_TRY(Clear());
    JOURNAL_TRY(Fill(path(), folder_, Transfer::kLink, false));
    JOURNAL_TRY(Finish());
    return true;
  }
  JOURNAL_TRY(RemoveLeftovers());
  return false;
}

Status CopyInto(const std::string& from, const std::string& to) {
  return Fill(from, to, Transfer::kCopy, true);
}

Status CopyFolder(const std::string& from, const std::string& to) {
  const fs::path target = fs::absolute(to).lexically_normal();
  if (::access(target.c_str(), F_OK) == 0) return Fail(ErrorKind::kInvalid, to + " exists");
  const fs::path building = target.string() + ".building";
  JOURNAL_TRY(RemoveTree(building));
  std::error_code error;
  if (!fs::create_directory(building, error)) return Failure(error, "create", building);
  JOURNAL_TRY(Fill(from, building, Transfer::kCopy, true));
  JOURNAL_TRY(SyncFolder(FolderAbove(target)));
  JOURNAL_TRY(RenamePath(building, target));
  return SyncFolder(FolderAbove(target));
}

}  // namespace tornfs::journal
