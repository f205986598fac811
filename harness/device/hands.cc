#include "harness/device/hands.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/device/hands_process.h"

namespace tornfs::harness {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMessageMost = 160 << 10;

bool Send(int socket, const std::string& text) {
  return ::send(socket, text.data(), text.size(), MSG_NOSIGNAL) ==
         static_cast<ssize_t>(text.size());
}

// `kept`, under a number of its own choice; every other descriptor above standard error is closed,
// so that whoever waits for the end of one does not wait for this process.
Fd OnlyThis(Fd kept) {
  constexpr int kNumber = 3;
  if (kept.get() != kNumber) kept = Fd(::dup3(kept.get(), kNumber, O_CLOEXEC));
  (void)::close_range(kNumber + 1, ~0U, 0);
  return kept;
}

}  // namespace

Result<std::unique_ptr<Hands>> Hands::Start(EventLoop& loop, const std::string& mount_point) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return IoError(errno, "socketpair");
  }
  Fd ours(ends[0]);
  Fd theirs(ends[1]);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return IoError(errno, "fork");
  if (pid == 0) {
    ours.Reset();
    theirs = OnlyThis(std::move(theirs));
    (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() == parent) RunHands(std::move(theirs), mount_point);
    ::_exit(0);
  }
  std::unique_ptr<Hands> hands(new Hands(loop, std::move(ours), pid));
  Hands* self = hands.get();
  loop.AddFd(self->socket_.get(), EPOLLIN, [self](std::uint32_t) {
    std::string text(kMessageMost, '\0');
    const ssize_t length = ::recv(self->socket_.get(), text.data(), text.size(), 0);
    if (length <= 0) {
      self->gone_ = true;
      self->loop_.RemoveFd(self->socket_.get());
      return;
    }
    text.resize(static_cast<std::size_t>(length));
    const Json message = Json::parse(text, nullptr, false);
    for (const auto& [key, hook] : {std::pair{"before", self->before_}, {"after", self->after_}}) {
      if (!message.contains(key)) continue;
      if (hook != nullptr && *hook) (*hook)(message[key].get<std::size_t>());
      (void)Send(self->socket_.get(), "{}");
      return;
    }
    self->answer_ = std::move(text);
  });
  return hands;
}

Hands::~Hands() {
  if (!gone_) {
    (void)::shutdown(socket_.get(), SHUT_WR);
    (void)loop_.RunUntil([this] { return gone_; });
  }
  (void)::waitpid(pid_, nullptr, 0);
}

Result<std::string> Hands::Ask(const std::string& request) {
  answer_.reset();
  if (gone_ || !Send(socket_.get(), request)) return Fail(ErrorCode::kIo, "the hands are gone");
  (void)loop_.RunUntil([this] { return answer_.has_value() || gone_; });
  if (!answer_) return Fail(ErrorCode::kIo, "the hands are gone");
  const Json answer = Json::parse(*answer_, nullptr, false);
  if (answer.contains("error")) {
    return tl::make_unexpected(Error{static_cast<ErrorCode>(answer["error"].get<int>()),
                                     answer["errno"].get<int>(), answer["text"]});
  }
  return answer.value("tree", std::string());
}

Status Hands::Attach(const std::string& file) {
  return Ask(Json{{"do", "attach"}, {"file", file}}.dump()).map([](const std::string&) {});
}

Status Hands::Make(const Filesystem& filesystem, const std::string& id) {
  return Ask(Json{{"do", "make"}, {"words", filesystem.mkfs}, {"id", id}, {"size", filesystem.size}}
                 .dump())
      .map([](const std::string&) {});
}

Status Hands::Mount(const Filesystem& filesystem, const std::string& more_options) {
  std::string options = filesystem.options;
  if (!options.empty() && !more_options.empty()) options += ",";
  options += more_options;
  return Ask(Json{{"do", "mount"}, {"type", filesystem.type}, {"options", options}}.dump())
      .map([](const std::string&) {});
}

Status Hands::MakeFolder(const std::string& path, uid_t owner, gid_t group) {
  return Ask(Json{{"do", "folder"}, {"path", path}, {"owner", owner}, {"group", group}}.dump())
      .map([](const std::string&) {});
}

Status Hands::Copy(const std::string& from, const std::string& to) {
  return Ask(Json{{"do", "copy"}, {"from", from}, {"to", to}}.dump()).map([](const std::string&) {
  });
}

Status Hands::Show(const std::string& folder, const std::string& at) {
  return Ask(Json{{"do", "show"}, {"folder", folder}, {"at", at}}.dump())
      .map([](const std::string&) {});
}

Status Hands::Unmount() {
  return Ask(Json{{"do", "unmount"}}.dump()).map([](const std::string&) {});
}

Status Hands::Run(const std::vector<StepWords>& steps, const StepHook& before,
                  const StepHook& after) {
  before_ = &before;
  after_ = &after;
  auto answer = Ask(Json{{"do", "run"}, {"steps", steps}}.dump());
  before_ = nullptr;
  after_ = nullptr;
  return answer.map([](const std::string&) {});
}

Status Hands::Do(SideCall call) {
  return Ask(Json{{"do", "side"}, {"call", static_cast<int>(call)}}.dump())
      .map([](const std::string&) {});
}

Result<std::string> Hands::Look(const Filesystem& filesystem) {
  return Ask(
      Json{{"do", "look"}, {"type", filesystem.type}, {"options", filesystem.look_options}}.dump());
}

}  // namespace tornfs::harness
