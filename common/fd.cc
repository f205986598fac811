#include "common/fd.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace tornfs {

Fd& Fd::operator=(Fd&& other) noexcept {
  if (this != &other) {
    Reset();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

void Fd::Reset() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

Result<Fd> OpenFile(const std::string& path, int flags, unsigned mode) {
  int fd = -1;
  do {
    fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return IoError(errno, path);
  return Fd(fd);
}

Status WriteAll(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0) {
      if (errno == EINTR) continue;
      return IoError(errno, "write");
    }
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
  return {};
}

Status WriteAll(int fd, std::string_view text) {
  return WriteAll(fd, std::as_bytes(std::span(text.data(), text.size())));
}

Result<std::string> ReadAll(int fd, std::size_t limit) {
  std::string out;
  std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t n = ::read(fd, buffer.data(), buffer.size());
    if (n == 0) return out;
    if (n < 0) {
      if (errno == EINTR) continue;
      return IoError(errno, "read");
    }
    if (static_cast<std::size_t>(n) > limit - out.size()) {
      return Fail(ErrorCode::kInvalid, "input is too long");
    }
    out.append(buffer.data(), static_cast<std::size_t>(n));
  }
}

Result<std::string> ReadFile(const std::string& path, std::size_t limit) {
  auto fd = OpenFile(path, O_RDONLY);
  if (!fd) return tl::make_unexpected(fd.error());
  auto text = ReadAll(fd->get(), limit);
  if (!text) text.error().context = path + ": " + text.error().context;
  return text;
}

Status WriteFile(const std::string& path, std::string_view text) {
  auto fd = OpenFile(path, O_WRONLY | O_CREAT | O_TRUNC);
  if (!fd) return tl::make_unexpected(fd.error());
  auto written = WriteAll(fd->get(), text);
  if (!written) written.error().context = path;
  return written;
}

}  // namespace tornfs
