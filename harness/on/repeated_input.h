// RepeatedInput: this process's standard input for several runs of one program, each of which reads
// it from where it stands now. A pipe or socket is read to its end first; what else has no
// position, such as a terminal, each run reads for itself.
#pragma once

#include <sys/types.h>

#include <utility>

#include "common/fd.h"
#include "common/result.h"

namespace tornfs::harness {

class RepeatedInput {
 public:
  // Waits for the end of a pipe. Errors: kIo.
  [[nodiscard]] static Result<RepeatedInput> Take();

  // The input at its start. Errors: kIo.
  [[nodiscard]] Result<int> Rewound() const;

 private:
  RepeatedInput(Fd fd, off_t start) : fd_(std::move(fd)), start_(start) {}

  Fd fd_;
  off_t start_;  // -1: it has no position.
};

}  // namespace tornfs::harness
