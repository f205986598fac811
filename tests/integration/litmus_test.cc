// Litmus programs as real system calls on a real mount: what the mount recorded must allow exactly
// what the same program allows in process, under every model.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <string>

#include "harness/litmus/golden.h"
#include "harness/litmus/outcome.h"
#include "mount_fixture.h"

namespace tornfs {
namespace {

using harness::LitmusCall;
using harness::LitmusProgram;
using harness::LitmusStep;

Fd Open(const std::string& path, int flags) {
  Fd fd(open(path.c_str(), flags | O_CLOEXEC, 0644));
  EXPECT_TRUE(fd.valid()) << path << ": " << errno;
  return fd;
}

void Write(const LitmusStep& step) {
  const int flag = step.flag == harness::WriteFlag::kSync    ? O_SYNC
                   : step.flag == harness::WriteFlag::kDsync ? O_DSYNC
                                                             : 0;
  const Fd fd = Open(step.path, O_WRONLY | O_CREAT | flag);
  const off_t at = step.offset ? static_cast<off_t>(*step.offset) : lseek(fd.get(), 0, SEEK_END);
  EXPECT_EQ(pwrite(fd.get(), step.bytes.data(), step.bytes.size(), at),
            static_cast<ssize_t>(step.bytes.size()));
}

void Sync(const LitmusStep& step) {
  const Fd fd = Open(step.path, O_RDONLY);
  EXPECT_EQ(step.call == LitmusCall::kFsync ? fsync(fd.get()) : fdatasync(fd.get()), 0);
}

void Allocate(const LitmusStep& step) {
  const Fd fd = Open(step.path, O_WRONLY);
  const int mode = step.call == LitmusCall::kPunch ? FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE
                   : step.keep_size                ? FALLOC_FL_KEEP_SIZE
                                                   : 0;
  EXPECT_EQ(
      fallocate(fd.get(), mode, static_cast<off_t>(*step.offset), static_cast<off_t>(step.number)),
      0);
}

// In the child, whose working directory is the mount.
void DoCall(const LitmusStep& step) {
  const char* path = step.path.c_str();
  const char* other = step.other.c_str();
  switch (step.call) {
    case LitmusCall::kCreate: (void)Open(step.path, O_WRONLY | O_CREAT | O_EXCL); break;
    case LitmusCall::kMkdir: EXPECT_EQ(mkdir(path, 0755), 0); break;
    case LitmusCall::kSymlink: EXPECT_EQ(symlink(other, path), 0); break;
    case LitmusCall::kLink: EXPECT_EQ(link(path, other), 0); break;
    case LitmusCall::kUnlink: EXPECT_EQ(unlink(path), 0); break;
    case LitmusCall::kRmdir: EXPECT_EQ(rmdir(path), 0); break;
    case LitmusCall::kRename: EXPECT_EQ(rename(path, other), 0); break;
    case LitmusCall::kTruncate:
      EXPECT_EQ(truncate(path, static_cast<off_t>(step.number)), 0);
      break;
    case LitmusCall::kChmod: EXPECT_EQ(chmod(path, static_cast<mode_t>(step.number)), 0); break;
    case LitmusCall::kSetxattr:
      EXPECT_EQ(setxattr(path, other, step.bytes.data(), step.bytes.size(), 0), 0);
      break;
    case LitmusCall::kAllocate:
    case LitmusCall::kPunch: Allocate(step); break;
    case LitmusCall::kFsync:
    case LitmusCall::kFdatasync: Sync(step); break;
    case LitmusCall::kWrite: Write(step); break;
    default: break;
  }
}

// What cannot be made with one call, or is not seen by a mount without a block device.
bool IsCall(const LitmusStep& step) {
  return step.call != LitmusCall::kSync && step.call != LitmusCall::kCopy &&
         step.call != LitmusCall::kStore;
}

class LitmusTest : public MountTest {};

TEST_F(LitmusTest, TheMountAllowsWhatTheEngineAllows) {
  const auto set = harness::BuiltInLitmus().value();
  std::size_t programs = 0;
  for (const LitmusProgram& program : set.programs) {
    if (program.row.empty() || !std::ranges::all_of(program.run, IsCall)) continue;
    SCOPED_TRACE(program.name);
    ++programs;
    engine().Load({Tree::Empty(0, 0, 1), {}}, false);
    Record();
    umask(0);
    InChild([&] {
      for (const LitmusStep& step : program.setup) DoCall(step);
    });
    Record();
    InChild([&] {
      for (const LitmusStep& step : program.run) DoCall(step);
    });
    const auto recorded = engine().TakeRecording();
    for (const Model& model : Models()) {
      SCOPED_TRACE(model.name);
      Engine replayed(engine().store(), model, [] { return Nanoseconds{0}; });
      replayed.Replay(*recorded);
      const auto history = replayed.TakeRecording();
      const auto on_mount =
          harness::OutcomesOf(*history, model, program.tear, program.at_end, engine().store());
      const auto in_process = harness::RunLitmus(program, model);
      ASSERT_TRUE(on_mount.has_value() && in_process.has_value());
      EXPECT_EQ(harness::Fingerprint(*on_mount), harness::Fingerprint(*in_process));
    }
  }
  EXPECT_GE(programs, 35U);
}

}  // namespace
}  // namespace tornfs
