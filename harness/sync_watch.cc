#include "harness/sync_watch.h"

#include <sys/epoll.h>
#include <sys/stat.h>

#include <string>

#include "fusefs/fuse/server.h"

namespace tornfs::harness {

SyncWatch::SyncWatch(Server& server, const Supervisor& supervisor, Rest rest)
    : server_(server),
      listener_(supervisor.syscall_listener()),
      rest_(rest),
      outside_(server.mount_point()) {
  if (listener_ < 0) return;
  server_.loop().AddFd(listener_, EPOLLIN, [this](std::uint32_t events) {
    // The other end is gone when the last watched process is.
    if ((events & EPOLLIN) == 0) return server_.loop().RemoveFd(listener_);
    Serve();
  });
}

SyncWatch::~SyncWatch() {
  if (listener_ >= 0) server_.loop().RemoveFd(listener_);
}

bool SyncWatch::IsOnMount(const CaughtSyscall& caught) {
  bool same = false;
  server_.RunElsewhere([&] {
    struct stat mount {};
    struct stat file {};
    const std::string path =
        "/proc/" + std::to_string(caught.thread) + "/fd/" + std::to_string(caught.fd);
    same = ::stat(path.c_str(), &file) == 0 && ::stat(server_.mount_point().c_str(), &mount) == 0 &&
           file.st_dev == mount.st_dev;
  });
  return same;
}

void SyncWatch::Serve() {
  const auto caught = TakeSyscall(listener_);
  if (!caught) return;
  if (caught->kind == CaughtKind::kSyncfs && !IsOnMount(*caught)) {
    return LetSyscallGoOn(listener_, *caught);
  }
  if (caught->kind != CaughtKind::kSync && caught->kind != CaughtKind::kSyncfs) {
    server_.RunElsewhere([&] { outside_.Look(*caught); });
    return LetSyscallGoOn(listener_, *caught);
  }
  ++syncs_;
  server_.Sync(caught->thread, [&](int error) {
    const bool goes_on =
        error == 0 && rest_ == Rest::kMachineToo && caught->kind == CaughtKind::kSync;
    if (goes_on) return LetSyscallGoOn(listener_, *caught);
    // sync(2) has no way to fail.
    AnswerSyscall(listener_, *caught, caught->kind == CaughtKind::kSync ? 0 : error);
  });
}

}  // namespace tornfs::harness
