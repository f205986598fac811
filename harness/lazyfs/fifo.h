// Fifos: the two named pipes of LazyFS. Commands come through one, a line each; the other tells of
// their completion.
//
// A writer may send several lines at once, or half a line. Nobody has to read the completions: they
// wait in the pipe, and are dropped when it is full.
//
// Threads: the loop's.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "common/fd.h"
#include "common/result.h"
#include "fusefs/fuse/event_loop.h"

namespace tornfs::harness::lazyfs {

class Fifos {
 public:
  static constexpr std::size_t kMaxLineBytes = 64U << 10;

  // Makes the pipes, with mode 0777, where they are not there. `completed` may be empty. `obey`
  // gets each line without its end, and an empty one for a line that was too long. `loop` must
  // outlive this. Errors: kInvalid if something else has that name, kIo.
  [[nodiscard]] static Result<std::unique_ptr<Fifos>> Open(
      EventLoop& loop, const std::string& commands, const std::string& completed,
      std::function<void(std::string_view)> obey);
  // Removes the pipes that were made.
  ~Fifos();
  Fifos(const Fifos&) = delete;
  Fifos& operator=(const Fifos&) = delete;

  // Writes a line to the completion pipe, if there is one. False if it was dropped.
  bool Complete(std::string_view text);

 private:
  explicit Fifos(EventLoop& loop) : loop_(loop) {}
  struct Pipe {
    std::string path;
    Fd fd;
    bool made = false;
  };
  [[nodiscard]] static Result<Pipe> OpenPipe(const std::string& path);
  void Receive();

  EventLoop& loop_;
  Pipe commands_;
  Pipe completed_;
  std::function<void(std::string_view)> obey_;
  std::string received_;
  bool too_long_ = false;  // The rest of the line is dropped.
};

}  // namespace tornfs::harness::lazyfs
