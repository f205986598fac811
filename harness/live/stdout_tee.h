// StdoutTee: what a program writes to the special file of its mount goes on to our own standard
// output, and is kept as its promises.
//
// A reader that is slow does not hold up the mount: what it has not taken yet is kept.
//
// Threads: the loop's.
#pragma once

#include <string>

#include "fusefs/fuse/server.h"

namespace tornfs::harness {

class StdoutTee {
 public:
  // Forwards to `fd`, which stays the caller's. `server` must outlive this.
  StdoutTee(Server& server, int fd) : server_(server), fd_(fd) {}
  ~StdoutTee();
  StdoutTee(const StdoutTee&) = delete;
  StdoutTee& operator=(const StdoutTee&) = delete;

  // Takes what was written since the last call, and forwards what the reader is ready for.
  void Pump();
  // Whether everything was forwarded, or nobody reads any more.
  [[nodiscard]] bool empty() const { return queue_.empty(); }

  // Every whole line so far.
  [[nodiscard]] std::string Promises() const;

 private:
  void Forward();
  void Watch();

  Server& server_;
  int fd_;
  bool watched_ = false;  // The loop tells when the reader is ready.
  bool closed_ = false;   // The reader is gone.
  std::string text_;      // All of it.
  std::string queue_;     // Not forwarded yet.
};

}  // namespace tornfs::harness
