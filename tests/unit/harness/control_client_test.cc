#include "harness/control_client.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>

#include "temp_dir.h"

namespace tornfs::harness {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLong{60'000};

// Listens, and answers the first connection's first request with `reply`.
class Daemon {
 public:
  explicit Daemon(const std::string& path, std::string reply = "")
      : listener_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener_.get(), 4), 0);
    thread_ = std::thread([this, reply = std::move(reply)] { Serve(reply); });
  }
  ~Daemon() { Join(); }

  // The request the daemon got. Call it after the client's call.
  std::string Request() {
    Join();
    return request_;
  }

 private:
  void Serve(const std::string& reply) {
    const Fd peer(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    std::array<char, 4096> bytes;
    while (request_.find('\n') == std::string::npos) {
      const ssize_t n = ::read(peer.get(), bytes.data(), bytes.size());
      if (n <= 0) break;
      request_.append(bytes.data(), static_cast<std::size_t>(n));
    }
    // In two parts, because a stream may cut anywhere.
    (void)WriteAll(peer.get(), std::string_view(reply).substr(0, reply.size() / 2));
    (void)WriteAll(peer.get(), std::string_view(reply).substr(reply.size() / 2));
  }

  void Join() {
    if (thread_.joinable()) thread_.join();
  }

  Fd listener_;
  std::string request_;
  std::thread thread_;
};

Result<nlohmann::json> Ask(const std::string& path) {
  auto client = ControlClient::Connect(path, kLong);
  if (!client) return tl::make_unexpected(client.error());
  return client->Call("crash", {{"lose", "all"}}, kLong);
}

TEST(ControlClient, SendsOneLineAndReturnsTheResult) {
  const TempDir dir;
  Daemon daemon(dir / "s", "{\"id\":1,\"result\":{\"epoch\":2}}\n");
  const auto result = Ask(dir / "s");
  ASSERT_TRUE(result);
  EXPECT_EQ((*result)["epoch"], 2);
  EXPECT_EQ(daemon.Request(), "{\"args\":{\"lose\":\"all\"},\"id\":1,\"op\":\"crash\"}\n");
}

TEST(ControlClient, AnErrorReplyKeepsItsCode) {
  const TempDir dir;
  const Daemon daemon(dir / "s",
                      "{\"id\":1,\"error\":{\"code\":\"busy\",\"message\":\"later\"}}\n");
  const auto result = Ask(dir / "s");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kBusy);
  EXPECT_EQ(result.error().Message(), "later");
}

TEST(ControlClient, WhatIsNoReplyIsCorrupt) {
  for (const char* reply : {"hello\n", "[]\n", "{\"id\":2,\"result\":{}}\n", "{\"id\":1}\n",
                            "{\"result\":{}}\n", "{\"id\":1,\"error\":3}\n"}) {
    const TempDir dir;
    const Daemon daemon(dir / "s", reply);
    const auto result = Ask(dir / "s");
    ASSERT_FALSE(result) << reply;
    EXPECT_EQ(result.error().code, ErrorCode::kCorrupt) << reply;
  }
}

TEST(ControlClient, ADaemonThatEndsIsNotFound) {
  const TempDir dir;
  {
    const Daemon daemon(dir / "s");
    const auto result = Ask(dir / "s");
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::kNotFound);
  }
  const auto refused = ControlClient::Connect(dir / "s", kLong);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().Message(), (dir / "s") + ": the daemon behind this socket is gone");
  const auto missing = ControlClient::Connect(dir / "t", kLong);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
}

// A socket that listens and is never accepted from stands for a daemon that hangs.
TEST(ControlClient, SilenceEndsInATimeout) {
  const TempDir dir;
  const std::string path = dir / "s";
  const Fd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(listener.get(), 4), 0);
  auto client = ControlClient::Connect(path, kLong);
  ASSERT_TRUE(client);
  const auto result = client->Call("status", nlohmann::json::object(), milliseconds(1));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kTimeout);
}

TEST(ControlClient, ALongPathIsRefused) {
  const auto client = ControlClient::Connect("/" + std::string(200, 'x'), kLong);
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code, ErrorCode::kInvalid);
}

TEST(ControlPath, DependsOnTheAbsolutePathOnly) {
  const std::string path = DefaultControlPath("/mnt/a");
  EXPECT_EQ(path, DefaultControlPath("/mnt/a/"));
  EXPECT_EQ(path, DefaultControlPath("/mnt/./b/../a"));
  EXPECT_NE(path, DefaultControlPath("/mnt/b"));
  EXPECT_TRUE(path.ends_with(".sock"));
  EXPECT_EQ(DefaultControlPath("a"),
            DefaultControlPath(std::filesystem::current_path().string() + "/a"));
}

TEST(ControlPath, TheFolderIsPrivate) {
  const TempDir dir;
  const std::string socket = dir / "tornfs/x.sock";
  ASSERT_TRUE(MakeControlFolder(socket));
  struct stat status;
  ASSERT_EQ(::stat((dir / "tornfs").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0700U);
  EXPECT_TRUE(MakeControlFolder(socket));
  ASSERT_EQ(::chmod((dir / "tornfs").c_str(), 0755), 0);
  EXPECT_EQ(MakeControlFolder(socket).error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace tornfs::harness
