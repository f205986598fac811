// WriteJoiner: tells the parts into which the kernel cuts one write(2) from separate calls.
//
// The kernel ends a WRITE request at a page boundary when the first page was partly written and not
// in its cache, and after 1 MiB. So only a request that ends on a page boundary, and started off
// one or is about 1 MiB long, can have a rest. For such a request the count argument of the waiting
// system call is read from /proc/TID/syscall: if it asks for more, what follows exactly there, from
// the same thread and with no op in between, is the rest. Everything else is a call of its own.
//
// Cost: about 10 us for the requests in question, which are one in 4096 of unaligned appends.
#pragma once

#include <cstdint>
#include <optional>

#include "fusefs/core/types.h"

namespace tornfs {

class WriteJoiner {
 public:
  struct Part {
    Ino ino = kNoIno;
    pid_t tid = 0;
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
  };
  struct Verdict {
    bool joins;      // The rest, or a piece of it, of the write that made the last op.
    bool completes;  // No further part will come.
  };

  // To be asked before a WRITE is performed. `next_op` is the engine's.
  [[nodiscard]] Verdict Judge(const Part& part, OpNumber next_op);
  // The part judged last was performed. If it failed, call Reset: the write(2) ends there.
  void Performed(const Part& part, const Verdict& verdict, OpNumber next_op);
  void Reset() { expected_ = 0; }

 private:
  Ino ino_ = kNoIno;
  pid_t tid_ = 0;
  std::uint64_t end_ = 0;
  std::uint64_t done_ = 0;      // Bytes of the call performed so far.
  std::uint64_t expected_ = 0;  // Bytes the call asks for; 0: nothing is awaited.
  OpNumber next_op_ = 0;
};

// How many bytes the write(2), pwrite(2) or (p)writev(2) in which thread `tid` waits was asked to
// write. Empty for other calls, for threads that run, and without the right to look.
[[nodiscard]] std::optional<std::uint64_t> WaitingWriteCount(pid_t tid);

}  // namespace tornfs
