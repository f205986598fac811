// Fd: the one owner of a file descriptor, and the few calls on descriptors that several folders
// need in a form that retries EINTR and never does less than asked.
//
// Not thread safe; a descriptor has one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "common/result.h"

namespace tornfs {

// Closes its descriptor when it goes. Errors of close(2) are not reported: whoever needs to know
// that bytes arrived must have called fsync.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept;
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { Reset(); }

  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool valid() const { return fd_ >= 0; }
  [[nodiscard]] int Release() { return std::exchange(fd_, -1); }
  void Reset();

 private:
  int fd_ = -1;
};

// open(2) with O_CLOEXEC added. Errors: kIo, with the path as context.
[[nodiscard]] Result<Fd> OpenFile(const std::string& path, int flags, unsigned mode = 0644);

// Writes all of `bytes` at the descriptor's position. Errors: kIo.
[[nodiscard]] Status WriteAll(int fd, std::span<const std::byte> bytes);
[[nodiscard]] Status WriteAll(int fd, std::string_view text);

// Reads until end of file. Errors: kIo; kInvalid when more than `limit` bytes come.
[[nodiscard]] Result<std::string> ReadAll(int fd, std::size_t limit = SIZE_MAX);
[[nodiscard]] Result<std::string> ReadFile(const std::string& path, std::size_t limit = SIZE_MAX);

// Creates or replaces a file. Not atomic and not synced: for reports, never for promises.
[[nodiscard]] Status WriteFile(const std::string& path, std::string_view text);

}  // namespace tornfs
