#include "fusefs/fuse/write_joiner.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <thread>

namespace tornfs {
namespace {

// A process that waits in a write(2) of `count` bytes, which fills a pipe: what a caller of the
// mount looks like.
class BlockedWriter {
 public:
  explicit BlockedWriter(std::size_t count, bool vector = false) {
    EXPECT_EQ(pipe(ends_.data()), 0);
    pid_ = fork();
    if (pid_ != 0) return;
    static std::array<char, 1 << 20> bytes;
    const iovec pieces[2] = {{bytes.data(), count / 2}, {bytes.data(), count - count / 2}};
    (void)!(vector ? writev(ends_[1], pieces, 2) : write(ends_[1], bytes.data(), count));
    _exit(0);
  }
  ~BlockedWriter() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    close(ends_[0]);
    close(ends_[1]);
  }
  // Its count, once it waits.
  [[nodiscard]] std::uint64_t Count() const {
    std::array<char, 1> byte{};
    EXPECT_EQ(read(ends_[0], byte.data(), 1), 1);  // It has begun, and does not fit.
    while (true) {
      if (const auto count = WaitingWriteCount(pid_)) return *count;
      std::this_thread::yield();
    }
  }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  std::array<int, 2> ends_{};
  pid_t pid_ = 0;
};

TEST(WaitingWriteCount, IsTheArgumentOfTheCall) {
  EXPECT_EQ(BlockedWriter(777777).Count(), 777777U);
  EXPECT_EQ(BlockedWriter(777777, true).Count(), 777777U);
  EXPECT_FALSE(WaitingWriteCount(0));
}

TEST(WriteJoiner, PartsOfOneCallJoin) {
  const BlockedWriter large(200000);
  EXPECT_EQ(large.Count(), 200000U);
  WriteJoiner joiner;
  const WriteJoiner::Part first{7, large.pid(), 4090, 6};
  const auto verdict = joiner.Judge(first, 10);
  EXPECT_FALSE(verdict.joins);
  EXPECT_FALSE(verdict.completes);
  joiner.Performed(first, verdict, 11);
  const WriteJoiner::Part middle{7, large.pid(), 4096, 4096};
  const auto second = joiner.Judge(middle, 11);
  EXPECT_TRUE(second.joins);
  EXPECT_FALSE(second.completes);
  joiner.Performed(middle, second, 11);
  const WriteJoiner::Part last{7, large.pid(), 8192, 200000 - 6 - 4096};
  const auto third = joiner.Judge(last, 11);
  EXPECT_TRUE(third.joins);
  EXPECT_TRUE(third.completes);
}

TEST(WriteJoiner, NothingElseJoins) {
  const BlockedWriter writer(200000);
  EXPECT_EQ(writer.Count(), 200000U);
  const WriteJoiner::Part first{7, writer.pid(), 4090, 6};
  const auto judge = [&](const WriteJoiner::Part& next, OpNumber next_op) {
    WriteJoiner joiner;
    const auto verdict = joiner.Judge(first, 10);
    joiner.Performed(first, verdict, 11);
    return joiner.Judge(next, next_op).joins;
  };
  EXPECT_TRUE(judge({7, writer.pid(), 4096, 100}, 11));
  EXPECT_FALSE(judge({8, writer.pid(), 4096, 100}, 11));      // Another file.
  EXPECT_FALSE(judge({7, writer.pid() + 1, 4096, 100}, 11));  // Another thread.
  EXPECT_FALSE(judge({7, writer.pid(), 4097, 100}, 11));      // Another place.
  EXPECT_FALSE(judge({7, writer.pid(), 4096, 100}, 12));      // An op in between.
  EXPECT_FALSE(judge({7, writer.pid(), 4096, 200000}, 11));   // More than the call asked for.
}

TEST(WriteJoiner, AlignedWritesAreNotLookedAt) {
  WriteJoiner joiner;
  const WriteJoiner::Part part{7, 1, 4096, 4096};
  const auto verdict = joiner.Judge(part, 1);
  EXPECT_FALSE(verdict.joins);
  EXPECT_TRUE(verdict.completes);
}

}  // namespace
}  // namespace tornfs
