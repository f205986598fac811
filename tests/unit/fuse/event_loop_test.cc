#include "fusefs/fuse/event_loop.h"

#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <array>

namespace tornfs {
namespace {

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe(ends.data()), 0);
    read = Fd(ends[0]);
    write = Fd(ends[1]);
  }
  void Put() const { EXPECT_EQ(::write(write.get(), "x", 1), 1); }
  void Get() const {
    char byte = 0;
    EXPECT_EQ(::read(read.get(), &byte, 1), 1);
  }
  Fd read;
  Fd write;
};

using std::chrono::milliseconds;

TEST(EventLoop, CallsBackWhenReady) {
  const auto loop = EventLoop::Create().value();
  const Pipe pipe;
  int calls = 0;
  loop->AddFd(pipe.read.get(), EPOLLIN, [&](std::uint32_t events) {
    EXPECT_NE(events & EPOLLIN, 0U);
    pipe.Get();
    ++calls;
  });
  EXPECT_FALSE(loop->PumpOnce(milliseconds(0)));
  pipe.Put();
  pipe.Put();
  EXPECT_TRUE(loop->RunUntil([&] { return calls == 2; }));
  loop->RemoveFd(pipe.read.get());
  pipe.Put();
  EXPECT_FALSE(loop->PumpOnce(milliseconds(0)));
}

TEST(EventLoop, ADeadlineEndsTheWait) {
  const auto loop = EventLoop::Create().value();
  EXPECT_FALSE(loop->RunUntil([] { return false; }, EventLoop::Clock::now() + milliseconds(5)));
}

TEST(EventLoop, ACallbackMayPumpAndIsNotEnteredAgain) {
  const auto loop = EventLoop::Create().value();
  const Pipe outer;
  const Pipe inner;
  int outer_calls = 0;
  int inner_calls = 0;
  loop->AddFd(outer.read.get(), EPOLLIN, [&](std::uint32_t) {
    ++outer_calls;
    inner.Put();
    EXPECT_TRUE(loop->RunUntil([&] { return inner_calls == 1; }));
    EXPECT_FALSE(loop->PumpOnce(milliseconds(0)));  // Though outer is still readable.
    outer.Get();
  });
  loop->AddFd(inner.read.get(), EPOLLIN, [&](std::uint32_t) {
    inner.Get();
    ++inner_calls;
  });
  outer.Put();
  EXPECT_TRUE(loop->PumpOnce(milliseconds(-1)));
  EXPECT_EQ(outer_calls, 1);
  EXPECT_FALSE(loop->PumpOnce(milliseconds(0)));
}

TEST(EventLoop, ACallbackMayRemoveItselfAndOthers) {
  const auto loop = EventLoop::Create().value();
  const Pipe first;
  const Pipe second;
  int calls = 0;
  const auto remove_both = [&](std::uint32_t) {
    ++calls;
    loop->RemoveFd(first.read.get());
    loop->RemoveFd(second.read.get());
  };
  loop->AddFd(first.read.get(), EPOLLIN, remove_both);
  loop->AddFd(second.read.get(), EPOLLIN, remove_both);
  first.Put();
  second.Put();
  EXPECT_TRUE(loop->PumpOnce(milliseconds(-1)));
  EXPECT_FALSE(loop->PumpOnce(milliseconds(0)));
  EXPECT_EQ(calls, 1);
}

TEST(EventLoop, APausedDescriptorIsQuietEvenWhenHungUp) {
  const auto loop = EventLoop::Create().value();
  Pipe pipe;
  int calls = 0;
  loop->AddFd(pipe.read.get(), EPOLLIN, [&](std::uint32_t) {
    ++calls;
    loop->SetEvents(pipe.read.get(), 0);
  });
  pipe.write.Reset();
  EXPECT_TRUE(loop->PumpOnce(milliseconds(-1)));
  EXPECT_FALSE(loop->PumpOnce(milliseconds(0)));
  loop->SetEvents(pipe.read.get(), EPOLLIN);
  EXPECT_TRUE(loop->PumpOnce(milliseconds(0)));
  EXPECT_EQ(calls, 2);
}

TEST(EventLoop, ANestingCallbackIsEnteredAgain) {
  const auto loop = EventLoop::Create().value();
  const Pipe pipe;
  int depth = 0;
  int deepest = 0;
  loop->AddFd(
      pipe.read.get(), EPOLLIN,
      [&](std::uint32_t) {
        pipe.Get();
        deepest = std::max(deepest, ++depth);
        loop->PumpOnce(milliseconds(0));
        --depth;
      },
      EventLoop::Nesting::kAllowed);
  pipe.Put();
  pipe.Put();
  EXPECT_TRUE(loop->PumpOnce(milliseconds(-1)));
  EXPECT_EQ(deepest, 2);
}

}  // namespace
}  // namespace tornfs
