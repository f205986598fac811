// The asking side of a mount's control socket: JSON Lines over a Unix stream socket.
//
//   request   {"id":1,"op":"crash","args":{...}}
//   reply     {"id":1,"result":{...}}  or  {"id":1,"error":{"code":"busy","message":"..."}}
//
// The codes are those of ErrorCodeName(); a reply comes after the effect is visible.
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "common/fd.h"
#include "common/result.h"

namespace tornfs::harness {

// Where the daemon that serves `mount_path` listens unless told otherwise: the Hash64 of the
// absolute path, in hex, with ".sock", in the folder
//   /run/tornfs            root
//   $XDG_RUNTIME_DIR/tornfs  others
//   /tmp/tornfs-UID        others, without XDG_RUNTIME_DIR
// A relative path is taken from the working directory; "." and ".." are removed as text. Symbolic
// links are not followed, because that would ask the mount.
[[nodiscard]] std::string DefaultControlPath(const std::string& mount_path);

// Makes the folder of a socket path, mode 0700. Errors: kIo; kInvalid when the folder exists but
// belongs to somebody else or others may enter it.
[[nodiscard]] Status MakeControlFolder(const std::string& socket_path);

// One connection. Not thread safe. Requests go one after the other.
class ControlClient {
 public:
  // Errors: kNotFound (nobody listens there: not mounted, or the daemon is dead), kInvalid (path
  // too long), kTimeout, kIo.
  [[nodiscard]] static Result<ControlClient> Connect(const std::string& socket_path,
                                                     std::chrono::milliseconds timeout);

  // Sends one request and waits for its reply. Returns the reply's "result".
  // Errors: the daemon's own, with its code and message; kTimeout (the effect is unknown and the
  // connection is of no further use); kNotFound when the daemon closed the connection instead of
  // answering; kCorrupt when the reply is not one; kIo.
  [[nodiscard]] Result<nlohmann::json> Call(std::string_view op, const nlohmann::json& args,
                                            std::chrono::milliseconds timeout);

 private:
  ControlClient(Fd socket, std::string path) : socket_(std::move(socket)), path_(std::move(path)) {}

  Result<std::string> ReadLine(std::chrono::steady_clock::time_point deadline);

  Fd socket_;
  std::string path_;
  std::string buffered_;  // Bytes received behind the last line.
  std::uint64_t last_id_ = 0;
};

}  // namespace tornfs::harness
