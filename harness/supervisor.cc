#include "harness/supervisor.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "common/check.h"
#include "harness/fd_passing.h"
#include "harness/kill_cgroup.h"
#include "harness/start_plan.h"
#include "harness/supervisor_process.h"

namespace tornfs::harness {

struct Supervisor::State {
  pid_t pid = -1;
  Fd requests;
  Fd control;
  Fd null;
  Fd output;
  Fd error;
  Fd listener;
  SharedMemory* shared = nullptr;
  std::optional<KillCgroup> cgroup;
  std::uint64_t last_spawn = 0;
  bool running = false;
  bool killed = false;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (shared != nullptr) (void)::munmap(shared, kSharedBytes);
  }

  [[nodiscard]] PlanDescriptors Descriptors() const {
    return {null.get(), output.get(), error.get()};
  }
};

namespace {

// Descriptors 0 to 2 must exist, so that none of ours becomes one of them.
Status FillStandardDescriptors() {
  for (int fd = 0; fd < 3; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) continue;
    if (::open("/dev/null", O_RDWR) < 0) return IoError(errno, "/dev/null");
  }
  return {};
}

Result<std::array<Fd, 2>> MakeSocketPair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return IoError(errno, "socketpair");
  }
  return std::array<Fd, 2>{Fd(ends[0]), Fd(ends[1])};
}

// A file in memory that takes the output of programs; appends, so that a second description of it
// cannot overwrite what is there.
Result<Fd> MakeCaptureFile(const char* name) {
  Fd fd(::memfd_create(name, MFD_CLOEXEC));
  if (!fd.valid() || ::fcntl(fd.get(), F_SETFL, O_APPEND) != 0) return IoError(errno, name);
  return fd;
}

Result<SharedMemory*> MakeSharedMemory() {
  void* memory = ::mmap(nullptr, kSharedBytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return IoError(errno, "shared memory");
  return new (memory) SharedMemory{};
}

// fork(2), in a new PID namespace if asked. The caller's own later children are not in it.
Result<pid_t> Fork(bool new_pid_namespace) {
  Fd own;
  if (new_pid_namespace) {
    auto opened = OpenFile("/proc/self/ns/pid", O_RDONLY);
    if (!opened) return tl::make_unexpected(opened.error());
    own = std::move(*opened);
    if (::unshare(CLONE_NEWPID) != 0) {
      if (errno == EPERM) return Fail(ErrorCode::kMissing, "private namespaces need root");
      return IoError(errno, "make a PID namespace");
    }
  }
  const pid_t pid = ::fork();
  const int fork_errno = errno;
  if (pid != 0 && own.valid()) CHECK(::setns(own.get(), CLONE_NEWPID) == 0);
  if (pid < 0) return IoError(fork_errno, "fork");
  return pid;
}

// What the helper says once it is ready, and the listener that may come with it. It waits for
// nothing but the kernel until then.
Status AwaitReady(int requests, Fd* listener) {
  ReadyMessage message;
  const ssize_t n = ReceiveWithFd(requests, {&message, sizeof message}, listener);
  if (n != sizeof message) return Fail(ErrorCode::kIo, "the helper process died at its start");
  if (message.ready) return {};
  return tl::make_unexpected(Error{message.code, message.sys_errno, message.context});
}

void Reap(pid_t pid) {
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

tl::unexpected<Error> HelperGone() {
  return Fail(ErrorCode::kIo, "the helper process of the programs is gone");
}

// Sends the request's byte, and `fd` with it unless it is -1.
Status SendRequest(int socket, int fd) {
  char byte = kSpawnMessage;
  if (SendWithFd(socket, {&byte, 1}, fd) == 1) return {};
  if (errno == EPIPE || errno == ECONNRESET) return HelperGone();
  return IoError(errno, "hand a program to the helper");
}

// Waits for the helper's answer to a kill; its control thread never touches a mount.
Status KillThroughHelper(int control) {
  char byte = kKillMessage;
  if (::send(control, &byte, 1, MSG_NOSIGNAL) != 1) return HelperGone();
  ssize_t n = 0;
  do {
    n = ::recv(control, &byte, 1, 0);
  } while (n < 0 && errno == EINTR);
  if (n != 1) return HelperGone();
  return {};
}

}  // namespace

const char* SpawnStageName(SpawnStage stage) {
  switch (stage) {
    case SpawnStage::kStarted: return "started";
    case SpawnStage::kFork: return "make a process";
    case SpawnStage::kInput: return "open standard input";
    case SpawnStage::kOutput: return "open standard output";
    case SpawnStage::kError: return "open standard error";
    case SpawnStage::kIdentity: return "change the user";
    case SpawnStage::kDirectory: return "enter the working directory";
    case SpawnStage::kExecute: return "execute";
  }
  return "unknown";
}

int ExitReport::ShellStatus() const {
  if (stage == SpawnStage::kExecute) return stage_errno == ENOENT ? 127 : 126;
  if (stage != SpawnStage::kStarted) return 125;
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

Supervisor::Supervisor(std::unique_ptr<State> state) : state_(std::move(state)) {}
Supervisor::Supervisor(Supervisor&&) noexcept = default;

Supervisor& Supervisor::operator=(Supervisor&& other) noexcept {
  if (this != &other) {
    Supervisor ended(std::move(*this));
    state_ = std::move(other.state_);
  }
  return *this;
}

Supervisor::~Supervisor() {
  if (state_ == nullptr) return;
  if (!state_->running) {
    Stop();
    return;
  }
  (void)Kill();
  // The helper goes on without us; its programs may need an answer from this process first.
  (void)::send(state_->control.get(), &kStopMessage, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

Result<Supervisor> Supervisor::Start(const SandboxOptions& options) {
  CHECK(!options.read_only_outside || options.private_namespaces);
  if (auto filled = FillStandardDescriptors(); !filled) return tl::make_unexpected(filled.error());
  auto requests = MakeSocketPair();
  auto control = MakeSocketPair();
  auto null = OpenFile("/dev/null", O_RDWR);
  auto output = MakeCaptureFile("output");
  auto error = MakeCaptureFile("error");
  auto shared = MakeSharedMemory();
  for (const Error* failure :
       {requests ? nullptr : &requests.error(), control ? nullptr : &control.error(),
        null ? nullptr : &null.error(), output ? nullptr : &output.error(),
        error ? nullptr : &error.error(), shared ? nullptr : &shared.error()}) {
    if (failure != nullptr) return tl::make_unexpected(*failure);
  }
  auto state = std::make_unique<State>();
  state->shared = *shared;
  state->shared->drop_sys_admin = options.no_mounting;
  state->null = std::move(*null);
  state->output = std::move(*output);
  state->error = std::move(*error);
  if (options.cgroup) {
    if (auto cgroup = KillCgroup::Create()) state->cgroup = std::move(*cgroup);
  }
  auto pid = Fork(options.private_namespaces);
  if (pid && *pid == 0) {
    RunHelper({std::move((*requests)[1]), std::move((*control)[1]), state->Descriptors(),
               state->shared, state->cgroup ? &*state->cgroup : nullptr},
              options);
  }
  state->requests = std::move((*requests)[0]);
  state->control = std::move((*control)[0]);
  (*requests)[1].Reset();
  (*control)[1].Reset();
  Status ready =
      pid ? AwaitReady(state->requests.get(), &state->listener) : tl::make_unexpected(pid.error());
  if (!ready) {
    if (pid) Reap(*pid);
    if (state->cgroup) state->cgroup->Remove();
    return tl::make_unexpected(ready.error());
  }
  state->pid = *pid;
  return Supervisor(std::move(state));
}

Result<std::uint64_t> Supervisor::Spawn(const SpawnRequest& request) {
  State& state = *state_;
  CHECK(!state.running);
  const std::uint64_t spawn = state.last_spawn + 1;
  auto planned = WriteStartPlan(request, spawn, state.Descriptors(), state.shared);
  if (!planned) return tl::make_unexpected(planned.error());
  for (const Fd* capture : {&state.output, &state.error}) {
    if (::ftruncate(capture->get(), 0) != 0) return IoError(errno, "empty a capture file");
  }
  const bool with_fd = request.input.kind == InputSource::Kind::kFd;
  auto sent = SendRequest(state.requests.get(), with_fd ? request.input.fd : -1);
  if (!sent) return tl::make_unexpected(sent.error());
  state.last_spawn = spawn;
  state.running = true;
  state.killed = false;
  return spawn;
}

bool Supervisor::running() const { return state_->running; }
int Supervisor::event_fd() const { return state_->requests.get(); }
int Supervisor::syscall_listener() const { return state_->listener.get(); }
pid_t Supervisor::helper_pid() const { return state_->pid; }
bool Supervisor::uses_cgroup() const { return state_->cgroup.has_value(); }

Result<std::optional<ExitReport>> Supervisor::Poll() {
  State& state = *state_;
  if (!state.running) return std::nullopt;
  ExitReport report;
  const ssize_t n = ::recv(state.requests.get(), &report, sizeof report, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
  state.running = false;
  if (n != sizeof report) {
    if (state.cgroup) (void)state.cgroup->Kill();  // Nobody else will end them.
    return HelperGone();
  }
  report.killed = state.killed;
  // In a killed spawn everything ends at once; nothing outlived anything.
  if (report.killed) report.stragglers = 0;
  return report;
}

Result<ExitReport> Supervisor::Wait() {
  CHECK(state_->running);
  for (;;) {
    auto report = Poll();
    if (!report) return tl::make_unexpected(report.error());
    if (*report) return **report;
    pollfd entry{event_fd(), POLLIN, 0};
    (void)::poll(&entry, 1, -1);
  }
}

Result<std::string> Supervisor::TakeOutput(Stream stream, std::size_t limit) {
  const int fd = (stream == Stream::kOutput ? state_->output : state_->error).get();
  const off_t size = ::lseek(fd, 0, SEEK_END);
  if (size < 0) return IoError(errno, "captured output");
  std::string text(std::min(limit, static_cast<std::size_t>(size)), '\0');
  std::size_t have = 0;
  while (have < text.size()) {
    const ssize_t n = ::pread(fd, text.data() + have, text.size() - have, static_cast<off_t>(have));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return IoError(errno, "captured output");
    if (n == 0) break;
    have += static_cast<std::size_t>(n);
  }
  text.resize(have);
  if (size > 0 && ::ftruncate(fd, 0) != 0) return IoError(errno, "captured output");
  return text;
}

Status Supervisor::Kill() {
  State& state = *state_;
  if (!state.running) return {};
  state.killed = true;
  state.shared->killed_spawn = state.last_spawn;
  if (state.cgroup) return state.cgroup->Kill();
  return KillThroughHelper(state.control.get());
}

void Supervisor::Stop() {
  State& state = *state_;
  CHECK(!state.running);
  if (state.pid < 0) return;
  (void)::send(state.control.get(), &kStopMessage, 1, MSG_NOSIGNAL);
  Reap(std::exchange(state.pid, -1));
  if (state.cgroup) state.cgroup->Remove();  // In case the helper did not get to it.
}

}  // namespace tornfs::harness
