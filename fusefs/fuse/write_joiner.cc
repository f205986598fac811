#include "fusefs/fuse/write_joiner.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "common/fd.h"

namespace tornfs {

namespace {

constexpr std::uint64_t kMaxRequestBytes = 1U << 20;

bool MayHaveRest(const WriteJoiner::Part& part) {
  if ((part.offset + part.length) % kPageBytes != 0) return false;
  return part.offset % kPageBytes != 0 || part.length > kMaxRequestBytes - kPageBytes;
}

// Sums the lengths of an iovec array in the memory of another process.
std::optional<std::uint64_t> IovecBytes(pid_t tid, std::uint64_t address, std::uint64_t count) {
  constexpr std::uint64_t kMostBuffers = 1024;  // UIO_MAXIOV.
  if (count == 0 || count > kMostBuffers) return std::nullopt;
  std::vector<iovec> buffers(count);
  const iovec here{buffers.data(), count * sizeof(iovec)};
  const iovec there{reinterpret_cast<void*>(address), count * sizeof(iovec)};
  if (process_vm_readv(tid, &here, 1, &there, 1, 0) != static_cast<ssize_t>(here.iov_len)) {
    return std::nullopt;
  }
  std::uint64_t sum = 0;
  for (const iovec& buffer : buffers) sum += buffer.iov_len;
  return sum;
}

// The line of /proc/TID/syscall; empty if it cannot be had. A thread whose request has arrived may
// still be on its way to sleep on another processor, and shows as running for that moment.
std::string SyscallLine(pid_t tid) {
  const std::string path = "/proc/" + std::to_string(tid) + "/syscall";
  const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return {};
  constexpr int kTries = 200;
  std::array<char, 256> buffer;
  for (int i = 0; i < kTries; ++i) {
    const ssize_t got = pread(file.get(), buffer.data(), buffer.size(), 0);
    if (got <= 0) return {};
    std::string line(buffer.data(), static_cast<std::size_t>(got));
    if (!line.starts_with("running")) return line;
    sched_yield();
  }
  return {};
}

}  // namespace

std::optional<std::uint64_t> WaitingWriteCount(pid_t tid) {
  if (tid <= 0) return std::nullopt;
  const std::string line = SyscallLine(tid);
  long number = -1;
  std::array<unsigned long long, 3> arguments{};
  if (std::sscanf(line.c_str(), "%ld 0x%llx 0x%llx 0x%llx", &number, &arguments[0], &arguments[1],
                  &arguments[2]) != 4) {
    return std::nullopt;
  }
  switch (number) {
    case SYS_write:
    case SYS_pwrite64: return arguments[2];
    case SYS_writev:
    case SYS_pwritev:
    case SYS_pwritev2: return IovecBytes(tid, arguments[1], arguments[2]);
    default: return std::nullopt;
  }
}

WriteJoiner::Verdict WriteJoiner::Judge(const Part& part, OpNumber next_op) {
  const bool joins = expected_ != 0 && part.ino == ino_ && part.tid == tid_ &&
                     part.offset == end_ && next_op == next_op_ && part.length <= expected_ - done_;
  if (!joins) {
    done_ = 0;
    expected_ = part.length;
    if (MayHaveRest(part)) {
      expected_ = std::max(part.length, WaitingWriteCount(part.tid).value_or(0));
    }
  }
  return {joins, done_ + part.length == expected_};
}

void WriteJoiner::Performed(const Part& part, const Verdict& verdict, OpNumber next_op) {
  if (verdict.completes) {
    Reset();
    return;
  }
  ino_ = part.ino;
  tid_ = part.tid;
  end_ = part.offset + part.length;
  done_ += part.length;
  next_op_ = next_op;
}

}  // namespace tornfs
