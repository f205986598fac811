// Install backup: a frozen copy of a folder that a destructive change falls back to.
//
//   Begin    .install-building  is filled with hard links and renamed to .install-backup
//   (the caller replaces everything else)
//   Finish   .install-backup    is renamed to .install-retired, which is the commit, and deleted
//   Recover  a backup that is still there means that Finish never came: everything else goes, and
//            the frozen files come back
//
// A file named `frontier`, at any depth, is copied and never linked: the live one is overwritten in
// place. Other linked files may change in place too, so between Begin and the replacement nothing
// may append to them or cut them. Whoever opens a journal calls Recover first.
//
// Files are synced through handles opened here. A writeback error that was already reported to
// their writer is not seen again, so the writers must have synced successfully before Begin.
//
// Errors: kIo; kInvalid when a backup exists at Begin.  Not thread safe.
#pragma once

#include <string>

#include "journal/error.h"
#include "journal/rules.h"

namespace tornfs::journal {

class InstallBackup {
 public:
  explicit InstallBackup(std::string folder) : folder_(std::move(folder)) {}

  // Names ending in .tmp or .staging are scratch and stay out. A lock file is nobody's data: it
  // stays out, and in place.
  [[nodiscard]] Status Begin();
  // Removes everything but the backup and the lock: the caller's first step after Begin.
  [[nodiscard]] Status Clear();
  [[nodiscard]] Status Finish();
  // Returns whether a backup was put back. Safe to repeat after a crash at any point.
  [[nodiscard]] Result<bool> Recover(const Rules& rules = {});

  // Where the frozen files are while Exists().
  [[nodiscard]] std::string path() const;
  [[nodiscard]] bool Exists() const;
  // Is there anything for Recover to do?
  [[nodiscard]] bool Pending() const;

 private:
  [[nodiscard]] Status RemoveLeftovers();

  std::string folder_;
};

// Copies the files and folders of `from` into the new folder `to`, all of them synced, then the
// name of `to`. `to` must not exist; nothing has that name before it is complete. Scratch and locks
// stay out, as at Begin.
[[nodiscard]] Status CopyFolder(const std::string& from, const std::string& to);
// The same into a folder that exists and is empty but for locks and backups.
[[nodiscard]] Status CopyInto(const std::string& from, const std::string& to);

}  // namespace tornfs::journal
