// The one door between the journal and a disk: a directory, the files in it, and the segments in
// the folder above, the partition.
//
// A name is a single path component, or InPartition(one) for a file of the partition.
//
// What an implementation promises
//   * Completion of a write or of a name change says nothing about surviving a power loss.
//   * File::Sync() makes the file's bytes and size durable, not its name.
//   * Storage::SyncDirectory() and SyncPartition() make the names of that one folder durable, not
//     what they name.
//   * An open File keeps its object across Rename() and Unlink() of its name.
//   * The handle that wrote must be the handle that syncs: writeback errors are reported per open
//     file description.
//
// One writer, no threads, except where SyncsConcurrently() allows it. Errors: kIo with the errno,
// unless stated otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "journal/error.h"

namespace tornfs::journal {

class File {
 public:
  File() = default;
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  virtual ~File() = default;

  // Fills `out` from byte `at`. Returns the number of bytes read, less than asked only at the end
  // of the file.
  [[nodiscard]] virtual Result<std::size_t> ReadAt(std::uint64_t at, std::span<std::byte> out) = 0;
  // Writes all of `bytes` at byte `at`, extending the file if needed. After an error any part may
  // have been written.
  [[nodiscard]] virtual Status WriteAt(std::uint64_t at, std::span<const std::byte> bytes) = 0;
  // The same with the concatenation of `parts`, at most kVectorPartsMax of them: one call.
  [[nodiscard]] virtual Status WriteParts(std::uint64_t at,
                                          std::span<const std::span<const std::byte>> parts) = 0;
  [[nodiscard]] virtual Result<std::uint64_t> Length() = 0;
  [[nodiscard]] virtual Status Truncate(std::uint64_t length) = 0;
  // fdatasync.
  [[nodiscard]] virtual Status Sync() = 0;
  // Asks for room for `length` bytes without changing the size. A hint: failure is no error.
  virtual void Preallocate(std::uint64_t length) = 0;
};

inline constexpr std::size_t kVectorPartsMax = 1024;  // The system's IOV_MAX.

enum class OpenMode : std::uint8_t {
  kRead,       // Must exist.
  kReadWrite,  // Must exist.
  kCreate,     // Read-write; created, or emptied if it exists.
  kEnsure,     // Read-write; created, or as it is.
};

enum class EntryType : std::uint8_t { kFile, kDirectory, kOther };

struct DirectoryEntry {
  std::string name;
  EntryType type = EntryType::kFile;
};

// One journal directory.
class Storage {
 public:
  Storage() = default;
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
  virtual ~Storage() = default;

  // Creates the directory unless it exists, and makes its own name durable either way: an earlier
  // process may have died between the two steps. The parent must exist.
  [[nodiscard]] virtual Status CreateDirectory() = 0;
  // Takes the exclusive lock file `name`, creating it if needed, and holds it until this object
  // goes. Never waits. Errors: kLocked when another holder exists.
  [[nodiscard]] virtual Status Lock(const std::string& name) = 0;
  [[nodiscard]] virtual Result<std::unique_ptr<File>> Open(const std::string& name,
                                                           OpenMode mode) = 0;
  // Every name but "." and "..", in no order.
  [[nodiscard]] virtual Result<std::vector<DirectoryEntry>> List() = 0;
  // The same of the partition, without the prefix.
  [[nodiscard]] virtual Result<std::vector<DirectoryEntry>> ListPartition() = 0;
  [[nodiscard]] virtual Status Rename(const std::string& from, const std::string& to) = 0;
  [[nodiscard]] virtual Status Unlink(const std::string& name) = 0;
  // A second name for the object that `from` names. `to` must not exist.
  [[nodiscard]] virtual Status Link(const std::string& from, const std::string& to) = 0;
  // Whether both names exist and stand for one object.
  [[nodiscard]] virtual Result<bool> SameFile(const std::string& a, const std::string& b) = 0;
  [[nodiscard]] virtual Status SyncDirectory() = 0;
  [[nodiscard]] virtual Status SyncPartition() = 0;
  // May several threads call File::Sync() on different files at once?
  [[nodiscard]] virtual bool SyncsConcurrently() const = 0;
};

}  // namespace tornfs::journal
