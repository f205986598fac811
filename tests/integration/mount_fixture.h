// MountTest: a mount in a temporary directory, served by this process, and child processes that use
// it. The test itself must not touch the mount: it is the one that serves.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/fd.h"
#include "fusefs/core/engine.h"
#include "fusefs/fuse/event_loop.h"
#include "fusefs/fuse/server.h"

namespace tornfs {

// A child process in step with the test: it runs until its next Pause, the test does something,
// and lets it go on. Expectations that fail in the child fail the test.
class Child {
 public:
  // Called in the child: waits for the test's next GoOn.
  using Pause = std::function<void()>;

  Child(Server& server, const std::function<void(const Pause&)>& body);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Serves until the child pauses or ends.
  void UntilPause();
  void GoOn();
  // Lets it run to its end and expects success.
  void Join();
  void Kill();
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  [[nodiscard]] int Wait();

  Server& server_;
  pid_t pid_ = 0;
  Fd exited_;  // pidfd.
  Fd paused_;  // A byte for each pause.
  Fd go_on_;   // A byte for each GoOn.
  bool joined_ = false;
};

class MountTest : public testing::Test {
 protected:
  explicit MountTest(MountOptions options = {});
  ~MountTest() override;

  // Runs `body` in a child process whose working directory is the mount.
  void InChild(const std::function<void()>& body);
  [[nodiscard]] std::unique_ptr<Child> Start(const std::function<void(const Child::Pause&)>& body);

  // Starts a new recording; what is there is durable.
  void Record();
  // The ops recorded, as "kind path", "write a 5000@4090".
  [[nodiscard]] std::vector<std::string> Ops() const;
  // Loses power with nothing or everything kept, and begins the next epoch.
  void PowerLoss(bool keep_all);

  [[nodiscard]] Server& server() { return *server_; }
  [[nodiscard]] Engine& engine() { return *engine_; }
  [[nodiscard]] const std::string& mount_point() const { return mount_point_; }

 private:
  std::string mount_point_;
  std::unique_ptr<ContentStore> store_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<EventLoop> loop_;
  std::unique_ptr<Server> server_;
};

// For children: the whole of a file; writes a file in one write(2), made anew.
[[nodiscard]] std::string Slurp(const std::string& path);
void Spew(const std::string& path, const std::string& text);

}  // namespace tornfs
