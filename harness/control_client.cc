#include "harness/control_client.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/hash.h"

namespace tornfs::harness {
namespace {

using Clock = std::chrono::steady_clock;

std::string ControlFolder() {
  const uid_t uid = ::geteuid();
  if (uid == 0) return "/run/tornfs";
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && *runtime == '/') return std::string(runtime) + "/tornfs";
  return "/tmp/tornfs-" + std::to_string(uid);
}

std::string AbsolutePath(const std::string& path) {
  std::error_code ignored;
  auto absolute = std::filesystem::absolute(path, ignored).lexically_normal();
  if (!absolute.has_filename() && absolute.has_relative_path()) absolute = absolute.parent_path();
  return absolute;
}

int MillisecondsLeft(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1 << 30));
}

// Waits until `fd` is ready for `events`. Errors: kTimeout, kIo.
Status WaitFor(int fd, short events, Clock::time_point deadline, const std::string& path) {
  for (;;) {
    pollfd entry{fd, events, 0};
    const int ready = ::poll(&entry, 1, MillisecondsLeft(deadline));
    if (ready > 0) return {};
    if (ready == 0) return Fail(ErrorCode::kTimeout, path + ": no answer in time");
    if (errno != EINTR) return IoError(errno, path);
  }
}

Status SendAll(int fd, std::string_view text, Clock::time_point deadline, const std::string& path) {
  while (!text.empty()) {
    const ssize_t n = ::send(fd, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n >= 0) {
      text.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno == EAGAIN) {
      if (auto ready = WaitFor(fd, POLLOUT, deadline, path); !ready) return ready;
    } else if (errno == EPIPE || errno == ECONNRESET) {
      return Fail(ErrorCode::kNotFound, path + ": the daemon closed the connection");
    } else if (errno != EINTR) {
      return IoError(errno, path);
    }
  }
  return {};
}

ErrorCode CodeFromName(std::string_view name) {
  for (int value = 1; value <= static_cast<int>(ErrorCode::kMissing); ++value) {
    const auto code = static_cast<ErrorCode>(value);
    if (ErrorCodeName(code) == name) return code;
  }
  return ErrorCode::kIo;
}

// The text member of an object, or `otherwise`.
std::string TextOf(const nlohmann::json& object, const char* key, const char* otherwise) {
  const auto member = object.find(key);
  return member != object.end() && member->is_string() ? member->get<std::string>() : otherwise;
}

Result<nlohmann::json> ReadReply(const std::string& line, std::uint64_t id,
                                 const std::string& path) {
  nlohmann::json reply = nlohmann::json::parse(line, nullptr, false);
  const auto corrupt = [&] { return Fail(ErrorCode::kCorrupt, path + ": not a reply: " + line); };
  if (!reply.is_object()) return corrupt();
  const auto reply_id = reply.find("id");
  if (reply_id == reply.end() || !reply_id->is_number_unsigned() ||
      reply_id->get<std::uint64_t>() != id) {
    return corrupt();
  }
  if (const auto error = reply.find("error"); error != reply.end()) {
    if (!error->is_object()) return corrupt();
    return Fail(CodeFromName(TextOf(*error, "code", "io")),
                TextOf(*error, "message", "the daemon refused"));
  }
  const auto result = reply.find("result");
  if (result == reply.end()) return corrupt();
  return Result<nlohmann::json>(tl::in_place, std::move(*result));
}

Status ConnectSocket(int fd, const sockaddr_un& address, Clock::time_point deadline) {
  const std::string path = address.sun_path;
  for (;;) {
    if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return {};
    switch (errno) {
      case EINTR: continue;
      case ENOENT: return Fail(ErrorCode::kNotFound, path + ": no such socket; is it mounted?");
      case ECONNREFUSED:
        return Fail(ErrorCode::kNotFound, path + ": the daemon behind this socket is gone");
      case EAGAIN: break;  // The listener's queue is full.
      default: return IoError(errno, path);
    }
    // Nothing tells when the queue has room again, so ask anew in a moment.
    if (MillisecondsLeft(deadline) == 0) {
      return Fail(ErrorCode::kTimeout, path + ": the daemon does not accept connections");
    }
    (void)::poll(nullptr, 0, std::min(10, MillisecondsLeft(deadline)));
  }
}

}  // namespace

std::string DefaultControlPath(const std::string& mount_path) {
  return ControlFolder() + "/" + Hex16(Hash64(AbsolutePath(mount_path))) + ".sock";
}

Status MakeControlFolder(const std::string& socket_path) {
  const std::string folder = std::filesystem::path(socket_path).parent_path();
  if (folder.empty()) return {};
  if (::mkdir(folder.c_str(), 0700) == 0) return {};
  if (errno != EEXIST) return IoError(errno, folder);
  struct stat status;
  if (::lstat(folder.c_str(), &status) != 0) return IoError(errno, folder);
  if (!S_ISDIR(status.st_mode) || status.st_uid != ::geteuid() || (status.st_mode & 077) != 0) {
    return Fail(ErrorCode::kInvalid, folder + ": not a private folder of this user");
  }
  return {};
}

Result<ControlClient> ControlClient::Connect(const std::string& socket_path,
                                             std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_path.size() >= sizeof address.sun_path) {
    return Fail(ErrorCode::kInvalid, socket_path + ": too long for a socket");
  }
  std::memcpy(address.sun_path, socket_path.data(), socket_path.size());
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return IoError(errno, "socket");
  if (auto connected = ConnectSocket(fd.get(), address, deadline); !connected) {
    return tl::make_unexpected(connected.error());
  }
  return ControlClient(std::move(fd), socket_path);
}

Result<std::string> ControlClient::ReadLine(Clock::time_point deadline) {
  for (;;) {
    if (const std::size_t end = buffered_.find('\n'); end != std::string::npos) {
      std::string line = buffered_.substr(0, end);
      buffered_.erase(0, end + 1);
      return line;
    }
    if (auto ready = WaitFor(socket_.get(), POLLIN, deadline, path_); !ready) {
      return tl::make_unexpected(ready.error());
    }
    std::array<char, 65536> bytes;
    const ssize_t n = ::recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (n > 0) {
      buffered_.append(bytes.data(), static_cast<std::size_t>(n));
    } else if (n == 0 || errno == ECONNRESET) {
      return Fail(ErrorCode::kNotFound, path_ + ": the daemon ended without an answer");
    } else if (errno != EINTR && errno != EAGAIN) {
      return IoError(errno, path_);
    }
  }
}

Result<nlohmann::json> ControlClient::Call(std::string_view op, const nlohmann::json& args,
                                           std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  const std::uint64_t id = ++last_id_;
  const nlohmann::json request{{"id", id}, {"op", op}, {"args", args}};
  const std::string line =
      request.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  if (auto sent = SendAll(socket_.get(), line, deadline, path_); !sent) {
    return tl::make_unexpected(sent.error());
  }
  auto reply = ReadLine(deadline);
  if (!reply) return tl::make_unexpected(reply.error());
  return ReadReply(*reply, id, path_);
}

}  // namespace tornfs::harness
