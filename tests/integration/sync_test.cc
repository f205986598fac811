// sync(2) and syncfs(2), seen where the mount is on a block device.
#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "mount_fixture.h"

namespace tornfs {
namespace {

class SyncTest : public MountTest {
 protected:
  static MountOptions Seeing() {
    MountOptions options;
    options.see_syncs = true;
    return options;
  }
  SyncTest() : MountTest(Seeing()) {}
  void SetUp() override {
    if (!server().sees_syncs()) GTEST_SKIP() << "no loop device to be had";
  }
  [[nodiscard]] long Syncs() const {
    const std::vector<std::string> ops = Ops();
    return std::ranges::count(ops, "syncfs ");
  }
};

TEST_F(SyncTest, SyncMakesEverythingDurable) {
  pid_t meant = 0;
  server().SetSyncFilter([&](pid_t pid) { return pid == meant; });
  const auto child = Start([](const Child::Pause& pause) {
    pause();
    Spew("a", "x");
    sync();
    Spew("b", "y");
    const int root = open(".", O_RDONLY | O_DIRECTORY);
    EXPECT_EQ(syncfs(root), 0);
  });
  child->UntilPause();
  meant = child->pid();
  child->GoOn();
  child->Join();
  EXPECT_EQ(Syncs(), 2);
  EXPECT_TRUE(engine().pending().empty());
}

TEST_F(SyncTest, OthersSyncsAndOurPullsDoNotCount) {
  server().SetSyncFilter([](pid_t) { return false; });
  InChild([] {
    Spew("a", "x");
    sync();
  });
  EXPECT_TRUE(server().PullPages());
  EXPECT_GE(server().counters().syncs_seen, 1U);
  EXPECT_EQ(Syncs(), 0);
  EXPECT_FALSE(engine().pending().empty());
}

}  // namespace
}  // namespace tornfs
