// Storage on a real directory, by plain system calls. Each call of the interface is one system call
// (repeated only after EINTR or a short transfer), so that what a tracer or a file system sees is
// the protocol and nothing else.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "common/fd.h"
#include "journal/storage.h"

namespace tornfs::journal {

// What went to the disk, for those who measure.
struct IoCounts {
  std::atomic<std::uint64_t> writes{0};
  std::atomic<std::uint64_t> bytes{0};
  std::atomic<std::uint64_t> barriers{0};  // On files and folders.
};

class PosixStorage final : public Storage {
 public:
  // Touches nothing yet; `path` may be relative and need not exist.
  explicit PosixStorage(std::string path) : path_(std::move(path)) {}

  Status CreateDirectory() override;
  Status Lock(const std::string& name) override;
  Result<std::unique_ptr<File>> Open(const std::string& name, OpenMode mode) override;
  Result<std::vector<DirectoryEntry>> List() override;
  Result<std::vector<DirectoryEntry>> ListPartition() override;
  Status Rename(const std::string& from, const std::string& to) override;
  Status Unlink(const std::string& name) override;
  Status Link(const std::string& from, const std::string& to) override;
  Result<bool> SameFile(const std::string& a, const std::string& b) override;
  Status SyncDirectory() override;
  Status SyncPartition() override;
  [[nodiscard]] bool SyncsConcurrently() const override { return true; }

  [[nodiscard]] const IoCounts& counts() const { return *counts_; }

 private:
  // The directory's descriptor, opened on first use.
  [[nodiscard]] Result<int> Directory();
  [[nodiscard]] std::string PathOf(const std::string& name) const { return path_ + "/" + name; }

  std::string path_;
  Fd directory_;
  Fd lock_;
  std::shared_ptr<IoCounts> counts_ = std::make_shared<IoCounts>();  // Shared with open files.
};

}  // namespace tornfs::journal
