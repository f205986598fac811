#include "harness/worker_pool.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

namespace tornfs::harness {

WorkerPool::~WorkerPool() {
  Signal(SIGKILL);
  for (const Process& process : processes_) {
    if (process.pid > 0) (void)::waitpid(process.pid, nullptr, 0);
  }
}

Status WorkerPool::Start(const Body& body) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return IoError(errno, "pipe");
  Fd reading(ends[0]);
  Fd writing(ends[1]);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return IoError(errno, "fork");
  if (pid == 0) {
    for (Process& other : processes_) other.pipe.Reset();
    reading.Reset();
    (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::_exit(::getppid() == parent ? body(writing.get()) : 1);
  }
  processes_.push_back({pid, std::move(reading), ""});
  return {};
}

bool WorkerPool::any() const {
  for (const Process& process : processes_) {
    if (process.pid > 0) return true;
  }
  return false;
}

bool WorkerPool::Turn(std::chrono::milliseconds most, int also,
                      const std::function<void(const std::string& line)>& take) {
  std::vector<pollfd> waiting{{also, POLLIN, 0}};
  std::vector<Process*> readable;
  for (Process& process : processes_) {
    if (process.pid <= 0) continue;
    waiting.push_back({process.pipe.get(), POLLIN, 0});
    readable.push_back(&process);
  }
  if (::poll(waiting.data(), waiting.size(), static_cast<int>(most.count())) <= 0) return false;
  for (std::size_t i = 0; i < readable.size(); ++i) {
    if (waiting[i + 1].revents != 0) Receive(*readable[i], take);
  }
  return waiting[0].revents != 0;
}

void WorkerPool::Receive(Process& process,
                         const std::function<void(const std::string& line)>& take) {
  char buffer[65536];
  const ssize_t length = ::read(process.pipe.get(), buffer, sizeof buffer);
  if (length > 0) {
    process.buffered.append(buffer, static_cast<std::size_t>(length));
    for (std::size_t end; (end = process.buffered.find('\n')) != std::string::npos;) {
      take(process.buffered.substr(0, end));
      process.buffered.erase(0, end + 1);
    }
    return;
  }
  if (length < 0 && errno == EINTR) return;
  int status = 0;
  (void)::waitpid(process.pid, &status, 0);
  process.pid = -1;
  process.pipe.Reset();
  failed_ = failed_ || status != 0;
}

void WorkerPool::Signal(int signal) const {
  for (const Process& process : processes_) {
    if (process.pid > 0) (void)::kill(process.pid, signal);
  }
}

}  // namespace tornfs::harness
