// ControlServer: commands for a running mount, as JSON Lines over a Unix stream socket.
//
//   request   {"id": 1, "op": "crash", "args": {...}}        args may be left out
//   reply     {"id": 1, "result": ...}
//   error     {"id": 1, "error": {"code": "invalid", "message": "..."}}
//
// The id is any JSON value and comes back as it was; it is null in the reply to a line that is no
// request. Codes are those of ErrorCodeName. Every line gets one reply, in order.
//
// The socket has mode 0600, and peers other than root and the owner of this process are turned
// away. A client that stops reading, or sends half a line, is kept waiting by itself: a line is at
// most kMaxLineBytes, a client with more than kMaxQueuedBytes of unread replies is not served, and
// one that breaks the first limit is told so and disconnected.
//
// Threads: the loop's. Handlers run one at a time, also when one of them pumps the loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <unordered_map>

#include "common/fd.h"
#include "common/result.h"
#include "fusefs/fuse/event_loop.h"

namespace tornfs {

class ControlServer {
 public:
  static constexpr std::size_t kMaxLineBytes = 1U << 20;
  static constexpr std::size_t kMaxQueuedBytes = 4U << 20;
  static constexpr std::size_t kMaxClients = 64;

  // Gets "args", an object (empty if left out). What it returns is sent when it returns.
  using Handler = std::function<Result<nlohmann::json>(const nlohmann::json& args)>;

  // Listens at `path`; a socket there that nobody listens on is replaced. `loop` must outlive the
  // server. Errors: kBusy if somebody listens there, kInvalid if the path is too long, kIo.
  [[nodiscard]] static Result<std::unique_ptr<ControlServer>> Listen(EventLoop& loop,
                                                                     std::string path);
  // Disconnects everybody and removes the socket.
  ~ControlServer();
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;

  // Sets what answers `op`.
  void On(std::string op, Handler handler);
  // Serves an already connected socket, as if it had come in.
  void Adopt(Fd client);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::size_t clients() const { return clients_.size(); }

 private:
  struct Client;

  ControlServer(EventLoop& loop, std::string path, Fd listener);
  void Accept();
  void Ready(std::uint64_t id, std::uint32_t events);
  void Receive(Client& client);
  void ServeLines();
  [[nodiscard]] Client* NextToServe(std::uint64_t after);
  [[nodiscard]] std::string Answer(const std::string& line);
  void Send(Client& client);
  void Watch(Client& client);
  void Drop(std::uint64_t id);

  EventLoop& loop_;
  std::string path_;
  Fd listener_;
  std::unordered_map<std::string, Handler> handlers_;
  std::map<std::uint64_t, std::unique_ptr<Client>> clients_;  // By the order they came in.
  std::uint64_t next_client_ = 1;
  bool serving_ = false;
};

}  // namespace tornfs
