#include "harness/sandbox.h"

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

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
// Returns the folder that takes all changes.
Result<Fd> CoverTmp() {
  auto old = OpenFile("/tmp", O_PATH | O_DIRECTORY);
  if (!old) return old;
  if (auto fresh = Mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755"); !fresh) {
    return tl::make_unexpected(fresh.error());
  }
  Status covered;
  Result<Fd> upper = Fd();
  if (::mkdir("/tmp/upper", 0700) != 0 || ::chmod("/tmp/upper", 01777) != 0 ||
      ::mkdir("/tmp/work", 0700) != 0) {
    covered = IoError(errno, "prepare /tmp");
  } else {
    upper = OpenFile("/tmp/upper", O_RDONLY | O_DIRECTORY);
    const std::string data = "lowerdir=/proc/self/fd/" + std::to_string(old->get()) +
                             ",upperdir=/tmp/upper,workdir=/tmp/work";
    covered = Mount("overlay", "/tmp", "overlay", MS_NOSUID | MS_NODEV, data.c_str());
  }
  if (covered && upper) return upper;
  (void)::umount2("/tmp", MNT_DETACH);  // Back to what was there.
  if (!covered) return tl::make_unexpected(covered.error());
  return upper;
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
Result<Fd> PrivateTmp(const std::string& mount_point) {
  if (!IsBelowTmp(mount_point)) return CoverTmp();
  auto tree = TakeMountPoint(mount_point);
  if (!tree) return tree;
  auto changes = CoverTmp();
  if (!changes) return changes;
  if (auto placed = PlaceMountPoint(*tree, mount_point); !placed) {
    return tl::make_unexpected(placed.error());
  }
  return changes;
}

// PrivateTmp() once more, in place of the one there is. The owner's mount in it, if there is one,
// is moved, and from then on stays until this namespace ends.
Result<Fd> RenewTmp(const std::string& mount_point) {
  Fd tree;
  if (IsBelowTmp(mount_point)) {
    tree = Fd(::open_tree(AT_FDCWD, mount_point.c_str(), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC));
    if (!tree.valid()) return IoError(errno, mount_point);
  }
  for (const char* layer : {"overlay", "tmpfs"}) {
    if (::umount2("/tmp", MNT_DETACH) != 0) return IoError(errno, std::string("remove ") + layer);
  }
  auto changes = CoverTmp();
  if (!changes || !tree.valid()) return changes;
  if (auto placed = PlaceMountPoint(tree, mount_point); !placed) {
    return tl::make_unexpected(placed.error());
  }
  return changes;
}

Status PrivateShm() {
  return Mount("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777");
}

// Whether a folder has entries; false if it cannot be read.
bool HasEntries(const Fd& folder) {
  constexpr std::size_t kOwnEntries = 2;  // "." and "..".
  struct Entry {
    std::uint64_t ino;
    std::int64_t offset;
    std::uint16_t length;
  };
  alignas(8) char buffer[512];
  if (::lseek(folder.get(), 0, SEEK_SET) != 0) return false;
  const long n = ::syscall(SYS_getdents64, folder.get(), buffer, sizeof buffer);
  std::size_t count = 0;
  for (long at = 0; at < n; ++count) {
    Entry entry{};
    std::memcpy(&entry, buffer + at, sizeof entry);
    at += entry.length;
  }
  return count > kOwnEntries;
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

Status OutsideView::Enter(const std::string& mount_point) {
  mount_point_ = mount_point;
  if (auto done = SetReadOnly(AT_FDCWD, "/", AT_RECURSIVE); !done) return done;
  std::string missing;
  const auto note = [&](const Status& step) {
    if (!step) missing += (missing.empty() ? "" : "; ") + step.error().Message();
    return step.has_value();
  };
  note(SetWritable("/proc"));
  if (auto changes = PrivateTmp(mount_point)) {
    tmp_changes_ = std::move(*changes);
  } else {
    note(tl::make_unexpected(changes.error()));
    note(ShareTmp());
  }
  private_shm_ = note(PrivateShm());
  if (!missing.empty()) LogWarning("the sandbox is incomplete: " + missing);
  return {};
}

Result<bool> OutsideView::Renew() {
  bool changed = false;
  if (tmp_changes_.valid() && HasEntries(tmp_changes_)) {
    changed = true;
    tmp_changes_.Reset();
    auto changes = RenewTmp(mount_point_);
    if (!changes) return tl::make_unexpected(changes.error());
    tmp_changes_ = std::move(*changes);
  }
  if (!private_shm_) return changed;
  const auto shm = OpenFile("/dev/shm", O_RDONLY | O_DIRECTORY);
  if (!shm || !HasEntries(*shm)) return changed;
  if (::umount2("/dev/shm", MNT_DETACH) != 0) return IoError(errno, "/dev/shm");
  if (auto fresh = PrivateShm(); !fresh) return tl::make_unexpected(fresh.error());
  return true;
}

}  // namespace tornfs::harness
