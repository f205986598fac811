// bench_client: the programs that tests/bench/run.py takes the time of.
//
//   bench_client ops DIR COUNT          file operations in DIR; prints nanoseconds per operation
//   bench_client stream DIR MEGABYTES   sequential I/O and fsyncs of ever larger files, likewise
//   bench_client spawn COUNT CMD...     starts CMD so often, one after the other; prints
//   runs/second
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

extern char** environ;

namespace {

[[noreturn]] void Die(const std::string& what) {
  std::perror(what.c_str());
  std::exit(1);
}

void Must(bool good, const char* what) {
  if (!good) Die(what);
}

double Now() {
  return std::chrono::duration<double, std::nano>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Calls `operation` with 0 to count - 1 and prints what one call takes.
template <class Operation>
void Time(const char* name, int count, Operation operation) {
  const double start = Now();
  for (int i = 0; i < count; ++i) operation(i);
  std::printf("%s %.1f\n", name, (Now() - start) / count);
}

void Operations(const std::string& directory, int count) {
  Must(::chdir(directory.c_str()) == 0, "chdir");
  const std::vector<char> page(4096, 'x');
  const int fd = ::open("data", O_RDWR | O_CREAT, 0644);
  Must(fd >= 0, "open");
  const auto write_page = [&](int i) {
    const auto done = ::pwrite(fd, page.data(), page.size(), static_cast<off_t>(i) * 4096);
    Must(done == static_cast<ssize_t>(page.size()), "pwrite");
  };
  std::vector<std::string> names;
  std::vector<std::string> others;
  for (int i = 0; i < count; ++i) {
    names.push_back("file-" + std::to_string(i));
    others.push_back("other-" + std::to_string(i));
  }
  Time("write", count, write_page);
  Time("write+fsync", count, [&](int i) {
    write_page(i);
    Must(::fsync(fd) == 0, "fsync");
  });
  Time("create", count, [&](int i) {
    const int file = ::open(names[static_cast<std::size_t>(i)].c_str(), O_WRONLY | O_CREAT, 0644);
    Must(file >= 0 && ::close(file) == 0, "create");
  });
  Time("stat", count, [&](int i) {
    struct stat status;
    Must(::stat(names[static_cast<std::size_t>(i)].c_str(), &status) == 0, "stat");
  });
  Time("rename", count, [&](int i) {
    const auto at = static_cast<std::size_t>(i);
    Must(std::rename(names[at].c_str(), others[at].c_str()) == 0, "rename");
  });
  Time("unlink", count,
       [&](int i) { Must(::unlink(others[static_cast<std::size_t>(i)].c_str()) == 0, "unlink"); });
}

// Whole files, a MiB at a time, and an fsync of one page in files of several sizes.
void Streams(const std::string& directory, int megabytes) {
  Must(::chdir(directory.c_str()) == 0, "chdir");
  constexpr std::size_t kMebibyte = 1U << 20;
  std::vector<char> buffer(kMebibyte, 'x');
  const int fd = ::open("stream", O_RDWR | O_CREAT, 0644);
  Must(fd >= 0, "open");
  const auto at = [](int i) { return static_cast<off_t>(i) << 20; };
  const auto full = static_cast<ssize_t>(kMebibyte);
  const auto write = [&](int i) {
    Must(::pwrite(fd, buffer.data(), kMebibyte, at(i)) == full, "pwrite");
  };
  // Memory that nobody has used since the machine started costs more than anything else here, so
  // what is written first is told apart from what is written to memory that was used before.
  const int part = megabytes / 4;
  Time("first-write-1MiB", part, write);
  Must(::fsync(fd) == 0 && ::ftruncate(fd, 0) == 0 && ::fsync(fd) == 0, "ftruncate");
  for (int i = 0; i < part; ++i) write(i);
  Must(::fsync(fd) == 0 && ::ftruncate(fd, 0) == 0 && ::fsync(fd) == 0, "ftruncate");
  Time("write-1MiB", part, write);
  Time("rewrite-1MiB", part, write);
  for (int i = part; i < megabytes; ++i) write(i);
  Must(::fsync(fd) == 0 && ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) == 0, "fadvise");
  Time("read-1MiB", megabytes,
       [&](int i) { Must(::pread(fd, buffer.data(), kMebibyte, at(i)) == full, "pread"); });
  Time("warm-read-4KiB", megabytes * 16, [&](int i) {
    Must(::pread(fd, buffer.data(), 4096, static_cast<off_t>(i) * 4096) == 4096, "pread");
  });
  for (const int size : {0, megabytes / 16, megabytes}) {
    Must(::ftruncate(fd, 0) == 0, "ftruncate");
    for (int i = 0; i < size; ++i) write(i);
    Must(::fsync(fd) == 0, "fsync");
    const std::string name = "fsync-at-" + std::to_string(size) + "MiB";
    Time(name.c_str(), 500, [&](int) {
      Must(::pwrite(fd, buffer.data(), 4096, 0) == 4096 && ::fsync(fd) == 0, "fsync");
    });
  }
  Must(::close(fd) == 0 && ::unlink("stream") == 0, "unlink");
}

void Spawn(int count, char** command) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  const double start = Now();
  for (int i = 0; i < count; ++i) {
    pid_t pid = -1;
    int status = 0;
    errno = ::posix_spawnp(&pid, command[0], &actions, nullptr, command, environ);
    Must(errno == 0, command[0]);
    Must(::waitpid(pid, &status, 0) == pid && status == 0, "the command failed");
  }
  std::printf("%.1f\n", count / ((Now() - start) / 1e9));
  ::posix_spawn_file_actions_destroy(&actions);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string way = argc > 3 ? argv[1] : "";
  if (way == "ops" && argc == 4) {
    Operations(argv[2], std::atoi(argv[3]));
  } else if (way == "stream" && argc == 4) {
    Streams(argv[2], std::atoi(argv[3]));
  } else if (way == "spawn") {
    Spawn(std::atoi(argv[2]), argv + 3);
  } else {
    std::fputs("usage: bench_client ops|stream DIR COUNT | bench_client spawn COUNT CMD...\n",
               stderr);
    return 2;
  }
  return 0;
}
