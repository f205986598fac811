#include "workloads/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

namespace workloads {

void Die(const std::string& what) {
  std::fprintf(stderr, "%s: %s\n", what.c_str(), std::strerror(errno));
  std::exit(2);
}

int Open(const std::string& path, int flags) {
  const int fd = open(path.c_str(), flags | O_CLOEXEC, 0644);
  if (fd < 0) Die("open " + path);
  return fd;
}

void Write(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) Die("write");
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void Sync(int fd) {
  if (fsync(fd) != 0) Die("fsync");
}

void Close(int fd) {
  if (close(fd) != 0) Die("close");
}

void SyncDirectory() {
  const int fd = Open(".", O_RDONLY | O_DIRECTORY);
  Sync(fd);
  Close(fd);
}

bool Read(const std::string& path, std::string& content) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return false;
  std::ostringstream text;
  text << file.rdbuf();
  content = text.str();
  return true;
}

std::uint64_t HighestPromise(const std::string& promises, std::string_view word) {
  std::string text;
  if (!Read(promises, text)) Die("read " + promises);
  std::istringstream lines(text);
  std::uint64_t highest = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(word) || line.size() <= word.size()) continue;
    const std::uint64_t number = NumberOf(std::string_view(line).substr(word.size() + 1));
    if (number > highest) highest = number;
  }
  return highest;
}

void Promise(std::string_view word, std::uint64_t number) {
  std::printf("%s %s\n", std::string(word).c_str(), std::to_string(number).c_str());
  if (std::fflush(stdout) != 0) Die("standard output");
}

std::uint64_t NumberOf(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

}  // namespace workloads
