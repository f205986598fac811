// Files that nothing names any more, waiting to be deleted.
//
// Deleting is never urgent and never on the way to an acknowledgment: a failure is logged, and the
// file waits for the next pass or the next open.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "journal/rules.h"
#include "journal/storage.h"

namespace tornfs::journal {

// Not thread safe.
class Reclaimer {
 public:
  // `storage` must outlive the reclaimer.
  Reclaimer(Storage& storage, const Rules& rules) : storage_(storage), rules_(rules) {}

  void Add(std::string name) { names_.push_back(std::move(name)); }
  // The name is about to be used again.
  void Cancel(const std::string& name);
  // Tries every file once, and makes the removals durable.
  void Run();

  [[nodiscard]] std::size_t pending() const { return names_.size(); }

 private:
  Storage& storage_;
  Rules rules_;
  std::vector<std::string> names_;
  bool unsynced_ = false;
};

}  // namespace tornfs::journal
