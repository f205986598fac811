// StepRunner: carries out the steps of a program with real system calls below one directory.
//
// Threads: one. Belongs to the process that uses the mount.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "common/fd.h"
#include "common/result.h"
#include "harness/device/step.h"

namespace tornfs::harness {

// A folder beside those of the program, in which schedules write; not part of the tree.
inline constexpr const char* kOtherFolder = ".other";

class StepRunner {
 public:
  // Errors: kIo.
  [[nodiscard]] static Result<StepRunner> Open(const std::string& directory);

  // Errors: kIo; kInvalid for words that are no step.
  [[nodiscard]] Status Run(const StepWords& step);

  // What schedules do beside the program.
  // Creates a file in kOtherFolder, writes ten bytes z and syncs it.
  [[nodiscard]] Status SyncAnother();
  // Starts and awaits the write-back of every file that the steps left behind, without a flush.
  [[nodiscard]] Status WriteBack();
  // syncfs(2). Errors: kIo.
  [[nodiscard]] Status SyncAll();

 private:
  explicit StepRunner(Fd directory) : directory_(std::move(directory)) {}
  // The open file of that name; it is opened, and kept, if it is not or if there are more flags.
  [[nodiscard]] Result<int> OpenFileOf(const std::string& name, int more_flags = 0);
  [[nodiscard]] Status Write(const StepWords& step);
  [[nodiscard]] Status Store(const StepWords& step);
  [[nodiscard]] Status Copy(const StepWords& step);
  [[nodiscard]] Status SyncOne(const StepWords& step);
  [[nodiscard]] Status Name(const StepWords& step);
  [[nodiscard]] Status MakeUnnamed(const std::string& called);
  [[nodiscard]] Status Change(const StepWords& step);

  Fd directory_;
  std::map<std::string, Fd> open_;
  std::set<std::string> unnamed_;  // Those of open_ that were made without a name.
  int others_ = 0;
};

}  // namespace tornfs::harness
