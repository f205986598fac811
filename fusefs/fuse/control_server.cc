#include "fusefs/fuse/control_server.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/log.h"

namespace tornfs {

using Json = nlohmann::json;

struct ControlServer::Client {
  std::uint64_t id = 0;
  Fd socket;
  std::string input;              // Without the complete lines.
  std::deque<std::string> lines;  // Waiting to be served.
  std::string output;             // Not sent yet.
  bool ended = false;             // Sends nothing more; goes when its replies are out.
};

namespace {

Result<sockaddr_un> AddressOf(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    return Fail(ErrorCode::kInvalid, "control socket path '" + path + "' is empty or longer than " +
                                         std::to_string(sizeof address.sun_path - 1) + " bytes");
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

Result<Fd> NewSocket() {
  Fd socket_fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket_fd.valid()) return IoError(errno, "socket");
  return socket_fd;
}

// Whether a socket file is left of a server that is gone.
bool IsAbandoned(const sockaddr_un& address) {
  const auto probe = NewSocket();
  if (!probe) return false;
  return connect(probe->get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 &&
         errno == ECONNREFUSED;
}

Result<Fd> ListenAt(const std::string& path) {
  const auto address = AddressOf(path);
  if (!address) return tl::make_unexpected(address.error());
  auto listener = NewSocket();
  if (!listener) return listener;
  const auto* name = reinterpret_cast<const sockaddr*>(&*address);
  // The mode of the file is 0600 from its first moment: fchmod before bind is what Linux uses.
  if (fchmod(listener->get(), 0600) != 0) return IoError(errno, "fchmod of the control socket");
  int bound = bind(listener->get(), name, sizeof *address);
  if (bound != 0 && errno == EADDRINUSE && IsAbandoned(*address)) {
    unlink(path.c_str());
    bound = bind(listener->get(), name, sizeof *address);
  }
  if (bound != 0) {
    const int bind_errno = errno;
    if (bind_errno == EADDRINUSE) {
      return tl::make_unexpected(Error{ErrorCode::kBusy, bind_errno, "control socket " + path});
    }
    return IoError(bind_errno, "bind control socket " + path);
  }
  constexpr int kBacklog = 16;
  if (listen(listener->get(), kBacklog) != 0) return IoError(errno, "listen " + path);
  return listener;
}

bool MayConnect(int socket_fd) {
  ucred peer{};
  socklen_t length = sizeof peer;
  if (getsockopt(socket_fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return false;
  return peer.uid == 0 || peer.uid == geteuid();
}

Json ErrorReply(const Json& id, const Error& error) {
  return {{"id", id},
          {"error", {{"code", ErrorCodeName(error.code)}, {"message", error.Message()}}}};
}

Json InvalidReply(const Json& id, std::string message) {
  return ErrorReply(id, Error{ErrorCode::kInvalid, 0, std::move(message)});
}

// Text from programs need not be UTF-8; a reply is sent in any case.
std::string LineOf(const Json& reply) {
  return reply.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

Result<std::unique_ptr<ControlServer>> ControlServer::Listen(EventLoop& loop, std::string path) {
  auto listener = ListenAt(path);
  if (!listener) return tl::make_unexpected(listener.error());
  return std::unique_ptr<ControlServer>(
      new ControlServer(loop, std::move(path), std::move(*listener)));
}

ControlServer::ControlServer(EventLoop& loop, std::string path, Fd listener)
    : loop_(loop), path_(std::move(path)), listener_(std::move(listener)) {
  loop_.AddFd(listener_.get(), EPOLLIN, [this](std::uint32_t) { Accept(); });
}

ControlServer::~ControlServer() {
  while (!clients_.empty()) Drop(clients_.begin()->first);
  loop_.RemoveFd(listener_.get());
  unlink(path_.c_str());
}

void ControlServer::On(std::string op, Handler handler) {
  handlers_[std::move(op)] = std::move(handler);
}

void ControlServer::Accept() {
  Fd socket_fd(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket_fd.valid() || clients_.size() >= kMaxClients) return;
  if (!MayConnect(socket_fd.get())) {
    LogWarning("control socket: a peer of another user was turned away");
    return;
  }
  Adopt(std::move(socket_fd));
}

void ControlServer::Adopt(Fd socket_fd) {
  auto client = std::make_unique<Client>();
  const std::uint64_t id = next_client_++;
  client->id = id;
  client->socket = std::move(socket_fd);
  loop_.AddFd(client->socket.get(), EPOLLIN,
              [this, id](std::uint32_t events) { Ready(id, events); });
  clients_.emplace(id, std::move(client));
}

void ControlServer::Ready(std::uint64_t id, std::uint32_t events) {
  Client& client = *clients_.at(id);
  if ((events & EPOLLOUT) != 0) Send(client);
  if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) Receive(client);
  Watch(client);
  ServeLines();
}

// Reads what is there, at most one buffer of it, and cuts it into lines.
void ControlServer::Receive(Client& client) {
  std::array<char, 1 << 16> buffer;
  const ssize_t got = recv(client.socket.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    client.ended = true;
    if (got < 0) client.output.clear();
    return;
  }
  client.input.append(buffer.data(), static_cast<std::size_t>(got));
  std::size_t begin = 0;
  for (auto end = client.input.find('\n'); end != std::string::npos;
       end = client.input.find('\n', begin)) {
    client.lines.push_back(client.input.substr(begin, end - begin));
    begin = end + 1;
  }
  client.input.erase(0, begin);
  if (client.input.size() <= kMaxLineBytes) return;
  client.output += LineOf(InvalidReply(
      nullptr, "a request is longer than " + std::to_string(kMaxLineBytes) + " bytes"));
  client.input.clear();
  client.ended = true;
}

// The first client after `after`, in a circle, with a line to be served.
ControlServer::Client* ControlServer::NextToServe(std::uint64_t after) {
  auto at = clients_.upper_bound(after);
  for (std::size_t i = 0; i < clients_.size(); ++i, ++at) {
    if (at == clients_.end()) at = clients_.begin();
    Client& client = *at->second;
    if (!client.lines.empty() && client.output.size() <= kMaxQueuedBytes) return &client;
  }
  return nullptr;
}

// One line of each client in turn, until none is left. A handler may pump the loop: lines that
// arrive then wait for it.
void ControlServer::ServeLines() {
  if (serving_) return;
  serving_ = true;
  std::uint64_t last = 0;
  while (Client* client = NextToServe(last)) {
    last = client->id;
    const std::string line = std::move(client->lines.front());
    client->lines.pop_front();
    const std::string reply = Answer(line);
    const auto found = clients_.find(last);
    if (found == clients_.end()) continue;  // Gone while it was served.
    found->second->output += reply;
    Send(*found->second);
    Watch(*found->second);
  }
  serving_ = false;
}

std::string ControlServer::Answer(const std::string& line) {
  // Values are copied and freed by recursion, so depth is bounded while parsing.
  constexpr int kMaxDepth = 64;
  const auto shallow = [](int depth, Json::parse_event_t, Json&) { return depth <= kMaxDepth; };
  const Json request = Json::parse(line, shallow, false);
  if (!request.is_object()) {
    return LineOf(InvalidReply(nullptr, "a request is one JSON object per line"));
  }
  const Json id = request.value("id", Json());
  const auto op = request.find("op");
  if (op == request.end() || !op->is_string()) {
    return LineOf(InvalidReply(id, "\"op\" is missing or no string"));
  }
  const auto handler = handlers_.find(op->get<std::string>());
  if (handler == handlers_.end()) {
    return LineOf(InvalidReply(id, "unknown op \"" + op->get<std::string>() + "\""));
  }
  const Json args = request.value("args", Json::object());
  if (!args.is_object()) return LineOf(InvalidReply(id, "\"args\" is no object"));
  try {
    const Result<Json> result = handler->second(args);
    return LineOf(result ? Json{{"id", id}, {"result", *result}} : ErrorReply(id, result.error()));
  } catch (const Json::exception& error) {
    return LineOf(InvalidReply(id, std::string("bad args: ") + error.what()));
  }
}

void ControlServer::Send(Client& client) {
  while (!client.output.empty()) {
    const ssize_t sent = send(client.socket.get(), client.output.data(), client.output.size(),
                              MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno != EAGAIN) {
      client.output.clear();
      client.lines.clear();
      client.ended = true;
    }
    if (sent <= 0) return;
    client.output.erase(0, static_cast<std::size_t>(sent));
  }
}

// Reads on only from clients that are served; drops those that are done.
void ControlServer::Watch(Client& client) {
  if (client.ended && client.output.empty() && client.lines.empty()) {
    Drop(client.id);
    return;
  }
  std::uint32_t events = client.output.empty() ? 0 : static_cast<std::uint32_t>(EPOLLOUT);
  if (!client.ended && client.lines.empty() && client.output.size() <= kMaxQueuedBytes) {
    events |= EPOLLIN;
  }
  loop_.SetEvents(client.socket.get(), events);
}

void ControlServer::Drop(std::uint64_t id) {
  const auto found = clients_.find(id);
  loop_.RemoveFd(found->second->socket.get());
  clients_.erase(found);
}

}  // namespace tornfs
