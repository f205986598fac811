#include "fusefs/fuse/control_server.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace tornfs {
namespace {

using Json = nlohmann::json;

class ControlServerTest : public testing::Test {
 protected:
  ControlServerTest()
      : path_(testing::TempDir() + "tornfs-control-" + std::to_string(getpid())),
        loop_(EventLoop::Create().value()),
        server_(ControlServer::Listen(*loop_, path_).value()) {
    server_->On("echo", [](const Json& args) -> Result<Json> { return args; });
    server_->On("fail", [](const Json&) -> Result<Json> {
      return Fail(ErrorCode::kNotFound, "nothing there");
    });
    server_->On("number",
                [](const Json& args) -> Result<Json> { return args.at("n").get<int>() + 1; });
    server_->On("big", [](const Json&) -> Result<Json> { return std::string(1 << 20, 'x'); });
  }

  // A client end of a socket that the server serves.
  [[nodiscard]] Fd Connect() {
    std::array<int, 2> ends{};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0);
    server_->Adopt(Fd(ends[1]));
    return Fd(ends[0]);
  }
  void Put(const Fd& client, const std::string& text) {
    std::size_t done = 0;
    while (done < text.size()) {
      const ssize_t sent = send(client.get(), text.data() + done, text.size() - done, MSG_NOSIGNAL);
      if (sent > 0) done += static_cast<std::size_t>(sent);
      if (sent < 0 && errno != EAGAIN) return;
      Pump();
    }
    Pump();
  }
  void Pump() {
    while (loop_->PumpOnce(std::chrono::milliseconds(0))) {
    }
  }
  // One reply; null if none has come.
  Json Reply(const Fd& client) {
    std::string& input = inputs_[client.get()];
    while (true) {
      if (const auto end = input.find('\n'); end != std::string::npos) {
        const Json reply = Json::parse(input.substr(0, end));
        input.erase(0, end + 1);
        return reply;
      }
      std::array<char, 1 << 16> buffer;
      const ssize_t got = recv(client.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
      if (got > 0) input.append(buffer.data(), static_cast<std::size_t>(got));
      if (got == 0 || (got < 0 && errno == ECONNRESET)) return "closed";
      if (got < 0 && !loop_->PumpOnce(std::chrono::milliseconds(0))) return nullptr;
    }
  }
  Json Ask(const Fd& client, const std::string& text) {
    Put(client, text);
    return Reply(client);
  }

  std::string path_;
  std::unique_ptr<EventLoop> loop_;
  std::unique_ptr<ControlServer> server_;
  std::map<int, std::string> inputs_;  // What was received and not yet returned, by descriptor.
};

TEST_F(ControlServerTest, AnswersWithTheIdOfTheRequest) {
  const Fd client = Connect();
  EXPECT_EQ(Ask(client, R"({"id":1,"op":"echo","args":{"a":[1,2]}})"
                        "\n"),
            (Json{{"id", 1}, {"result", {{"a", {1, 2}}}}}));
  EXPECT_EQ(Ask(client, "{\"id\":\"x\",\"op\":\"echo\"}\n"),
            (Json{{"id", "x"}, {"result", Json::object()}}));
}

TEST_F(ControlServerTest, EveryWrongRequestGetsAnErrorReply) {
  const Fd client = Connect();
  const struct {
    const char* text;
    Json id;
    const char* code;
  } kCases[] = {
      {"{\"id\":1,\"op\":\"fail\"}\n", 1, "not_found"},
      {"{\"id\":2,\"op\":\"nope\"}\n", 2, "invalid"},
      {"{\"id\":3}\n", 3, "invalid"},
      {"{\"id\":4,\"op\":7}\n", 4, "invalid"},
      {"{\"id\":5,\"op\":\"echo\",\"args\":[]}\n", 5, "invalid"},
      {"{\"id\":6,\"op\":\"number\",\"args\":{}}\n", 6, "invalid"},
      {"{\"id\":7,\"op\":\"number\",\"args\":{\"n\":\"x\"}}\n", 7, "invalid"},
      {"garbage\n", nullptr, "invalid"},
      {"[1,2]\n", nullptr, "invalid"},
      {"\n", nullptr, "invalid"},
      {"\xff\xfe\n", nullptr, "invalid"},
  };
  for (const auto& test : kCases) {
    const Json reply = Ask(client, test.text);
    ASSERT_TRUE(reply.is_object()) << test.text;
    EXPECT_EQ(reply["id"], test.id) << test.text;
    EXPECT_EQ(reply["error"]["code"], test.code == std::string("not_found")
                                          ? ErrorCodeName(ErrorCode::kNotFound)
                                          : ErrorCodeName(ErrorCode::kInvalid))
        << test.text;
    EXPECT_FALSE(reply["error"]["message"].get<std::string>().empty());
  }
}

TEST_F(ControlServerTest, ALineMayComeInPiecesAndManyInOne) {
  const Fd client = Connect();
  Put(client, "{\"id\":1,\"op\":\"ec");
  EXPECT_EQ(Reply(client), nullptr);
  EXPECT_EQ(Ask(client, "ho\"}\n{\"id\":2,\"op\":\"echo\"}\n{\"id\":3,\"op\":\"echo\"}\n")["id"],
            1);
  EXPECT_EQ(Reply(client)["id"], 2);
  EXPECT_EQ(Reply(client)["id"], 3);
}

TEST_F(ControlServerTest, HalfALineBlocksNobody) {
  const Fd slow = Connect();
  const Fd fast = Connect();
  Put(slow, "{\"id\":");
  EXPECT_EQ(Ask(fast, "{\"id\":1,\"op\":\"echo\"}\n")["id"], 1);
}

TEST_F(ControlServerTest, AClientThatReadsNothingIsNotServedAndBlocksNobody) {
  const Fd deaf = Connect();
  std::string many;
  for (int i = 0; i < 8; ++i) many += "{\"id\":1,\"op\":\"big\"}\n";
  Put(deaf, many);
  const Fd other = Connect();
  EXPECT_EQ(Ask(other, "{\"id\":2,\"op\":\"echo\"}\n")["id"], 2);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(Reply(deaf)["id"], 1);
}

TEST_F(ControlServerTest, AnEndlessLineIsRefusedAndCutOff) {
  const Fd client = Connect();
  Put(client, std::string(ControlServer::kMaxLineBytes + (1 << 17), 'x'));
  EXPECT_EQ(Reply(client)["error"]["code"], "invalid");
  EXPECT_EQ(Reply(client), "closed");
  EXPECT_EQ(server_->clients(), 0U);
}

TEST_F(ControlServerTest, AClientMayLeaveWithoutListening) {
  {
    const Fd client = Connect();
    Put(client, "{\"id\":1,\"op\":\"big\"}\n{\"id\":2,\"op\":\"big\"}\n");
  }
  Pump();
  EXPECT_EQ(server_->clients(), 0U);
}

TEST_F(ControlServerTest, AHandlerThatPumpsIsNotInterruptedByAnother) {
  int depth = 0;
  server_->On("pump", [&](const Json&) -> Result<Json> {
    EXPECT_EQ(++depth, 1);
    Pump();
    --depth;
    return nullptr;
  });
  const Fd first = Connect();
  const Fd second = Connect();
  EXPECT_EQ(send(first.get(), "{\"id\":1,\"op\":\"pump\"}\n", 21, 0), 21);
  EXPECT_EQ(send(second.get(), "{\"id\":2,\"op\":\"pump\"}\n", 21, 0), 21);
  Pump();
  EXPECT_EQ(Reply(first)["id"], 1);
  EXPECT_EQ(Reply(second)["id"], 2);
}

TEST_F(ControlServerTest, TheSocketIsPrivateAndReplacedOnlyWhenAbandoned) {
  struct stat found {};
  ASSERT_EQ(stat(path_.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0600U);
  EXPECT_EQ(ControlServer::Listen(*loop_, path_).error().code, ErrorCode::kBusy);
  EXPECT_EQ(ControlServer::Listen(*loop_, std::string(200, 'x')).error().code, ErrorCode::kInvalid);
}

TEST_F(ControlServerTest, AcceptsConnections) {
  const Fd client(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path_.c_str(), sizeof address.sun_path - 1);
  ASSERT_EQ(connect(client.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  Pump();
  EXPECT_EQ(server_->clients(), 1U);
  EXPECT_EQ(Ask(client, "{\"id\":1,\"op\":\"echo\"}\n")["id"], 1);
}

}  // namespace
}  // namespace tornfs
