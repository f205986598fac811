#include "harness/live/daemon.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "harness/cli.h"

namespace tornfs::harness {
namespace {

void LetGoOfTerminal() {
  const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (int fd = 0; fd < 3 && null.valid(); ++fd) (void)::dup2(null.get(), fd);
}

// One byte of exit code, then the text.
int Relay(int pipe, pid_t child) {
  auto message = ReadAll(pipe);
  if (!message || message->empty()) {
    (void)::waitpid(child, nullptr, 0);
    std::fputs("tornfs: the daemon died at its start\n", stderr);
    return kExitInconclusive;
  }
  const int exit = static_cast<unsigned char>(message->front());
  if (exit != kExitOk) (void)::waitpid(child, nullptr, 0);
  std::fputs(message->c_str() + 1, exit == kExitOk ? stdout : stderr);
  return exit;
}

}  // namespace

void StartReport::Succeeded(const std::string& text) {
  if (pipe_.valid()) {
    LetGoOfTerminal();
    Send(kExitOk, text);
  } else {
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
  }
}

void StartReport::Failed(int exit, const std::string& line) {
  if (pipe_.valid()) {
    Send(exit, line);
  } else {
    std::fputs(line.c_str(), stderr);
  }
}

void StartReport::Send(int exit, const std::string& text) {
  (void)WriteAll(pipe_.get(), static_cast<char>(exit) + text);  // The parent may be gone: fine.
  pipe_.Reset();
}

Result<int> RunInBackground(const std::function<int(StartReport&)>& daemon) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return IoError(errno, "pipe");
  Fd read_end(ends[0]);
  Fd write_end(ends[1]);
  const pid_t pid = ::fork();
  if (pid < 0) return IoError(errno, "fork");
  if (pid > 0) {
    write_end.Reset();
    return Relay(read_end.get(), pid);
  }
  read_end.Reset();
  (void)::setsid();
  StartReport report(std::move(write_end));
  if (::chdir("/") != 0) ::_exit(kExitInconclusive);
  ::_exit(daemon(report));
}

}  // namespace tornfs::harness
