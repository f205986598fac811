#include "harness/sandbox.h"

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "common/fd.h"
#include "common/log.h"

namespace tornfs::harness {
namespace {

Status Mount(const char* source, const char* target, const char* type, unsigned long flags,
             const char* data) {
  if (::mount(source, target, type, flags, data) == 0) return {};
  return IoError(errno, std::string("mount on ") + target);
}

Status SetWritable(const char* path) {
  mount_attr attributes{};
  attributes.attr_clr = MOUNT_ATTR_RDONLY;
  if (::mount_setattr(AT_FDCWD, path, 0, &attributes, sizeof attributes) == 0) return {};
  return IoError(errno, std::string("make writable: ") + path);
}

Status SetReadOnly(int directory, const char* path, unsigned flags) {
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_RDONLY;
  if (::mount_setattr(directory, path, flags, &attributes, sizeof attributes) == 0) return {};
  return IoError(errno, "make mounts read-only");
}

Status BringLoopbackUp() {
  const Fd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return IoError(errno, "socket");
  ifreq request{};
  std::strcpy(request.ifr_name, "lo");
  if (::ioctl(fd.get(), SIOCGIFFLAGS, &request) != 0) return IoError(errno, "look at lo");
  request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP | IFF_RUNNING);
  if (::ioctl(fd.get(), SIOCSIFFLAGS, &request) != 0) return IoError(errno, "bring lo up");
  return {};
}

bool IsBelowTmp(const std::string& path) { return path.starts_with("/tmp/"); }

// Covers /tmp with an overlay on a fresh tmpfs, which itself lies hidden between the two. The old
// /tmp is named through its descriptor, because its path no longer leads there.
Status CoverTmp() {
  auto old = OpenFile("/tmp", O_PATH | O_DIRECTORY);
  if (!old) return tl::make_unexpected(old.error());
  if (auto fresh = Mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755"); !fresh) {
    return fresh;
  }
  Status covered;
  if (::mkdir("/tmp/upper", 0700) != 0 || ::chmod("/tmp/upper", 01777) != 0 ||
      ::mkdir("/tmp/work", 0700) != 0) {
    covered = IoError(errno, "prepare /tmp");
  } else {
    const std::string data = "lowerdir=/proc/self/fd/" + std::to_string(old->get()) +
                             ",upperdir=/tmp/upper,workdir=/tmp/work";
    covered = Mount("overlay", "/tmp", "overlay", MS_NOSUID | MS_NODEV, data.c_str());
  }
  if (!covered) (void)::umount2("/tmp", MNT_DETACH);  // Back to what was there.
  return covered;
}

// The mount point as it was before /tmp was covered: a mount the owner makes on it arrives here.
Result<Fd> TakeMountPoint(const std::string& path) {
  Fd tree(::open_tree(AT_FDCWD, path.c_str(), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC));
  if (!tree.valid()) return IoError(errno, path);
  if (auto done = SetReadOnly(tree.get(), "", AT_EMPTY_PATH); !done) {
    return tl::make_unexpected(done.error());
  }
  return tree;
}

Status PlaceMountPoint(const Fd& tree, const std::string& path) {
  if (::move_mount(tree.get(), "", AT_FDCWD, path.c_str(), MOVE_MOUNT_F_EMPTY_PATH) == 0) return {};
  return IoError(errno, path);
}

// Gives up privacy for function: /tmp stays the machine's, and writable.
Status ShareTmp() {
  if (auto bound = Mount("/tmp", "/tmp", nullptr, MS_BIND, nullptr); !bound) return bound;
  return SetWritable("/tmp");
}

// Private /tmp with the mount point kept in it. On failure /tmp is as before.
Status PrivateTmp(const std::string& mount_point) {
  if (!IsBelowTmp(mount_point)) return CoverTmp();
  auto tree = TakeMountPoint(mount_point);
  if (!tree) return tl::make_unexpected(tree.error());
  if (auto covered = CoverTmp(); !covered) return covered;
  return PlaceMountPoint(*tree, mount_point);
}

}  // namespace

Status EnterPrivateNamespaces() {
  if (::unshare(CLONE_NEWNS) != 0) {
    if (errno == EPERM) return Fail(ErrorCode::kMissing, "private namespaces need root");
    return IoError(errno, "enter a private mount namespace");
  }
  // First cut the ties to the machine, then offer new ones to the helpers' namespaces.
  if (auto cut = Mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr); !cut) return cut;
  return Mount(nullptr, "/", nullptr, MS_REC | MS_SHARED, nullptr);
}

Status EnterHelperNamespaces() {
  if (::unshare(CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC) != 0) {
    return IoError(errno, "enter private namespaces");
  }
  if (auto fed = Mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr); !fed) return fed;
  if (auto up = BringLoopbackUp(); !up) return up;
  return Mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr);
}

Status ReadOnlyOutside(const std::string& mount_point) {
  if (auto done = SetReadOnly(AT_FDCWD, "/", AT_RECURSIVE); !done) return done;
  std::string missing;
  const auto note = [&](const Status& step) {
    if (!step) missing += (missing.empty() ? "" : "; ") + step.error().Message();
    return step.has_value();
  };
  note(SetWritable("/proc"));
  if (!note(PrivateTmp(mount_point))) note(ShareTmp());
  note(Mount("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777"));
  if (!missing.empty()) LogWarning("the sandbox is incomplete: " + missing);
  return {};
}

}  // namespace tornfs::harness
