// SpecialFiles: the hidden files in the root of a mount, .tornfs-stdout and .tornfs-promises. They
// are no part of the tree and no part of the history; server.h says what they are for.
//
// Threads: the loop's.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "fusefs/core/engine.h"
#include "fusefs/core/types.h"

namespace tornfs {

class SpecialFiles {
 public:
  // The inode of that name in `dir`, if it is a special one.
  [[nodiscard]] static std::optional<Ino> Find(Ino dir, std::string_view name);

  [[nodiscard]] struct stat Stat(Ino ino) const;
  [[nodiscard]] std::string_view Content(Ino ino) const;
  // Errors: EACCES for the promises opened for writing.
  [[nodiscard]] Outcome<void> Open(Ino ino, int flags);
  // Appends to standard output; each line that is complete now becomes a promise.
  void Append(Engine& engine, std::span<const std::byte> bytes);

  // An unfinished line does not go on into the next epoch.
  void BeginEpoch() { line_.clear(); }

  [[nodiscard]] std::string TakeStdout();
  void SetPromises(std::string text);
  [[nodiscard]] bool promises_were_read() const { return promises_were_read_; }

 private:
  std::string stdout_;
  std::string line_;  // What came after the last newline.
  std::string promises_;
  mutable bool promises_were_read_ = false;
};

}  // namespace tornfs
