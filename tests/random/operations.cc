#include "operations.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "common/check.h"

namespace tornfs {
namespace {

std::string Outcome(long result, int error) {
  return result >= 0 ? std::to_string(result) : std::string(std::strerror(error));
}

// What a program sees of a file, but for times and what a filesystem is free to choose.
std::string Seen(const struct stat& status) {
  const long long size = S_ISDIR(status.st_mode) ? 0 : status.st_size;
  return std::to_string(status.st_mode) + " " + std::to_string(status.st_nlink) + " " +
         std::to_string(status.st_uid) + " " + std::to_string(size);
}

off_t ToOffset(std::uint64_t offset) { return static_cast<off_t>(offset); }

}  // namespace

Sides::Sides(std::string one, std::string other, std::uint64_t seed) : rng_(seed) {
  const std::array<std::string, 2> paths{std::move(one), std::move(other)};
  for (std::size_t side : {0, 1}) {
    roots_[side] = Fd(open(paths[side].c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    CHECK(roots_[side].valid());
  }
}

Sides::~Sides() {
  for (Slot& slot : slots_) Unmap(slot);
}

template <class Call>
std::string Sides::Both(std::string what, Call&& call) {
  last_ = std::move(what);
  std::array<std::string, 2> outcomes;
  for (std::size_t side : {0, 1}) {
    errno = 0;
    const long result = call(side);
    outcomes[side] = Outcome(result, errno);
  }
  if (outcomes[0] == outcomes[1]) return {};
  return last_ + ": " + outcomes[0] + " but " + outcomes[1];
}

std::string Sides::AnyPath() {
  std::string path;
  for (std::uint64_t depth = rng_.Below(3); depth > 0; --depth) {
    path += "d" + std::to_string(rng_.Below(3)) + "/";
  }
  return path + (rng_.Below(3) == 0 ? "d" : "f") + std::to_string(rng_.Below(4));
}

std::uint64_t Sides::AnyOffset() {
  // Near page boundaries, where most of the interesting places are, or anywhere.
  const std::uint64_t page = rng_.Below(kMaxBytes / 4096 / 8) * 4096;
  switch (rng_.Below(4)) {
    case 0: return page;
    case 1: return page + rng_.Below(16);
    case 2: return page + 4096 - rng_.Below(16);
    default: return rng_.Below(kMaxBytes / 8);
  }
}

std::string Sides::AnyBytes() {
  const std::uint64_t length = rng_.Below(8) == 0 ? rng_.Below(20000) : rng_.Below(300);
  return std::string(length, static_cast<char>('a' + rng_.Below(26)));
}

std::string Sides::Step() {
  switch (rng_.Below(10)) {
    case 0:
    case 1:
    case 2: return OnNames();
    case 3: return OnAttributes();
    case 4: return OnXattrs();
    case 5: return Look();
    default: return OnFiles();
  }
}

std::string Sides::OnNames() {
  const std::string a = AnyPath();
  const std::string b = AnyPath();
  const auto root = [&](std::size_t side) { return roots_[side].get(); };
  switch (rng_.Below(10)) {
    case 0: return Both("mkdir " + a, [&](auto s) { return mkdirat(root(s), a.c_str(), 0755); });
    case 1:
      return Both("rmdir " + a, [&](auto s) { return unlinkat(root(s), a.c_str(), AT_REMOVEDIR); });
    case 2:
    case 3: return Both("unlink " + a, [&](auto s) { return unlinkat(root(s), a.c_str(), 0); });
    case 4:
      return Both("link " + a + " " + b,
                  [&](auto s) { return linkat(root(s), a.c_str(), root(s), b.c_str(), 0); });
    case 5:
      return Both("symlink " + b + " " + a,
                  [&](auto s) { return symlinkat(b.c_str(), root(s), a.c_str()); });
    case 6:
      return Both("mkfifo " + a,
                  [&](auto s) { return mknodat(root(s), a.c_str(), S_IFIFO | 0644, 0); });
    case 7: {
      const unsigned flags = 1U << rng_.Below(3);
      return Both("renameat2 " + a + " " + b + " " + std::to_string(flags),
                  [&](auto s) { return renameat2(root(s), a.c_str(), root(s), b.c_str(), flags); });
    }
    default:
      return Both("rename " + a + " " + b,
                  [&](auto s) { return renameat(root(s), a.c_str(), root(s), b.c_str()); });
  }
}

std::string Sides::OnAttributes() {
  const std::string path = AnyPath();
  const auto root = [&](std::size_t side) { return roots_[side].get(); };
  switch (rng_.Below(3)) {
    case 0: {
      const auto mode = static_cast<mode_t>(rng_.Below(010000) | 0700);
      return Both("chmod " + path + " " + std::to_string(mode),
                  [&](auto s) { return fchmodat(root(s), path.c_str(), mode, 0); });
    }
    case 1: {
      const auto id = static_cast<uid_t>(rng_.Below(4));
      return Both("chown " + path + " " + std::to_string(id), [&](auto s) {
        return fchownat(root(s), path.c_str(), id, id, AT_SYMLINK_NOFOLLOW);
      });
    }
    default: {
      const auto second = static_cast<time_t>(rng_.Below(2'000'000'000));
      const std::array<timespec, 2> times{{{second, 1}, {second, 999'999'999}}};
      return Both("utimensat " + path, [&](auto s) {
        return utimensat(root(s), path.c_str(), times.data(), AT_SYMLINK_NOFOLLOW);
      });
    }
  }
}

std::string Sides::OnXattrs() {
  const std::string path = AnyPath();
  const std::string name = "user.x" + std::to_string(rng_.Below(3));
  const std::string value = AnyBytes().substr(0, 500);
  const auto full = [&](std::size_t side) {
    return "/proc/self/fd/" + std::to_string(roots_[side].get()) + "/" + path;
  };
  switch (rng_.Below(3)) {
    case 0:
      return Both("removexattr " + path + " " + name,
                  [&](auto s) { return lremovexattr(full(s).c_str(), name.c_str()); });
    case 1: {
      std::vector<char> room(600);
      return Both("getxattr " + path + " " + name, [&](auto s) {
        return lgetxattr(full(s).c_str(), name.c_str(), room.data(), room.size());
      });
    }
    default: {
      const int flags = static_cast<int>(rng_.Below(3));  // 0, XATTR_CREATE, XATTR_REPLACE.
      return Both("setxattr " + path + " " + name, [&](auto s) {
        return lsetxattr(full(s).c_str(), name.c_str(), value.data(), value.size(), flags);
      });
    }
  }
}

std::string Sides::Look() {
  const std::string path = AnyPath();
  std::array<std::string, 2> seen;
  auto differs = Both("stat " + path, [&](auto s) {
    struct stat status {};
    const int result = fstatat(roots_[s].get(), path.c_str(), &status, AT_SYMLINK_NOFOLLOW);
    seen[s] = Seen(status);
    return result;
  });
  if (differs.empty() && seen[0] != seen[1]) differs = last_ + ": " + seen[0] + " but " + seen[1];
  return differs;
}

std::string Sides::OnFiles() {
  Slot& slot = AnySlot();
  if (!slot.file[0].valid()) return rng_.Below(10) == 0 ? Unnamed() : Open(slot);
  switch (rng_.Below(16)) {
    case 0:
    case 1:
      Unmap(slot);
      slot = Slot();
      last_ = "close";
      return {};
    case 2:
    case 3:
    case 4: return Read(slot);
    case 5:
    case 6: return Resize(slot);
    case 7:
    case 8:
    case 9: return Map(slot);
    case 10: return Both("fsync", [&](auto s) { return fsync(slot.file[s].get()); });
    case 11: return Copy();
    default: return Write(slot);
  }
}

std::string Sides::Open(Slot& slot) {
  const std::string path = AnyPath();
  int flags = O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW;
  if (rng_.Below(2) == 0) flags |= O_CREAT;
  if (rng_.Below(6) == 0) flags |= O_EXCL;
  if (rng_.Below(6) == 0) flags |= O_TRUNC;
  if (rng_.Below(4) == 0) flags |= O_APPEND;
  auto differs = Both("open " + path + " " + std::to_string(flags), [&](auto s) -> long {
    slot.file[s] = Fd(openat(roots_[s].get(), path.c_str(), flags, 0644));
    return slot.file[s].valid() ? 0 : -1;
  });
  if (!differs.empty() || !slot.file[0].valid()) return differs;
  struct stat status {};
  CHECK(fstat(slot.file[0].get(), &status) == 0);
  if (!S_ISREG(status.st_mode)) slot = Slot();
  return {};
}

// A file without a name, which gets one.
std::string Sides::Unnamed() {
  const std::string path = AnyPath();
  const std::string bytes = AnyBytes();
  return Both("O_TMPFILE and linkat " + path, [&](auto s) -> long {
    const Fd file(openat(roots_[s].get(), ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0640));
    if (!file.valid()) return -1;
    if (pwrite(file.get(), bytes.data(), bytes.size(), 3) < 0) return -1;
    const std::string name = "/proc/self/fd/" + std::to_string(file.get());
    return linkat(AT_FDCWD, name.c_str(), roots_[s].get(), path.c_str(), AT_SYMLINK_FOLLOW);
  });
}

std::string Sides::Read(Slot& slot) {
  const std::uint64_t offset = AnyOffset();
  std::array<std::vector<char>, 2> bytes;
  for (auto& each : bytes) each.resize(1 + offset % 9000);
  auto differs = Both("read at " + std::to_string(offset), [&](auto s) {
    return pread(slot.file[s].get(), bytes[s].data(), bytes[s].size(), ToOffset(offset));
  });
  if (differs.empty() && bytes[0] != bytes[1]) differs = last_ + ": other bytes";
  return differs;
}

std::string Sides::Write(Slot& slot) {
  const std::uint64_t offset = AnyOffset();
  const std::string bytes = AnyBytes();
  if (rng_.Below(3) > 0) {
    return Both("write " + std::to_string(bytes.size()) + " at " + std::to_string(offset),
                [&](auto s) {
                  return pwrite(slot.file[s].get(), bytes.data(), bytes.size(), ToOffset(offset));
                });
  }
  std::array<iovec, 3> pieces{{{const_cast<char*>(bytes.data()), bytes.size() / 3},
                               {const_cast<char*>("middle"), 6},
                               {const_cast<char*>(bytes.data()), bytes.size() / 2}}};
  return Both("pwritev at " + std::to_string(offset), [&](auto s) {
    return pwritev(slot.file[s].get(), pieces.data(), 3, ToOffset(offset));
  });
}

std::string Sides::Resize(Slot& slot) {
  const std::uint64_t offset = AnyOffset();
  const std::uint64_t length = 1 + rng_.Below(40000);
  if (rng_.Below(2) == 0) {
    Unmap(slot);
    return Both("ftruncate " + std::to_string(offset),
                [&](auto s) { return ftruncate(slot.file[s].get(), ToOffset(offset)); });
  }
  static constexpr std::array<int, 5> kModes{
      0, FALLOC_FL_KEEP_SIZE, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, FALLOC_FL_ZERO_RANGE,
      FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE};
  const int mode = kModes[rng_.Below(kModes.size())];
  return Both("fallocate " + std::to_string(mode) + " at " + std::to_string(offset) + " length " +
                  std::to_string(length),
              [&](auto s) {
                return fallocate(slot.file[s].get(), mode, ToOffset(offset), ToOffset(length));
              });
}

void Sides::Unmap(Slot& slot) {
  for (std::byte*& map : slot.map) {
    if (map != nullptr) CHECK(munmap(std::exchange(map, nullptr), slot.mapped) == 0);
  }
}

// Maps the file, or loads and stores where it is mapped and not shorter than it was.
std::string Sides::Map(Slot& slot) {
  struct stat status {};
  CHECK(fstat(slot.file[0].get(), &status) == 0);
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (slot.map[0] == nullptr) {
    if (size == 0) return {};
    for (std::size_t side : {0, 1}) {
      void* map = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, slot.file[side].get(), 0);
      if (map == MAP_FAILED) return "mmap fails on side " + std::to_string(side);
      slot.map[side] = static_cast<std::byte*>(map);
    }
    slot.mapped = size;
    last_ = "mmap";
    return {};
  }
  const std::uint64_t end = std::min(size, slot.mapped);
  if (end == 0) return {};
  const std::uint64_t at = rng_.Below(end);
  const std::uint64_t length = 1 + rng_.Below(std::min<std::uint64_t>(end - at, 6000));
  if (rng_.Below(8) == 0) {
    return Both("msync", [&](auto s) { return msync(slot.map[s], slot.mapped, MS_SYNC); });
  }
  last_ = "store " + std::to_string(length) + " at " + std::to_string(at);
  if (std::memcmp(slot.map[0] + at, slot.map[1] + at, length) != 0) return last_ + ": other bytes";
  const int byte = static_cast<int>('A' + rng_.Below(26));
  for (std::byte* map : slot.map) std::memset(map + at, byte, length);
  return {};
}

std::string Sides::Copy() {
  Slot& from = AnySlot();
  Slot& to = AnySlot();
  if (!from.file[0].valid() || !to.file[0].valid()) return {};
  const std::uint64_t source = AnyOffset();
  const std::uint64_t target = AnyOffset();
  const std::size_t length = 1 + rng_.Below(20000);
  return Both("copy_file_range " + std::to_string(length), [&](auto s) {
    off_t in = ToOffset(source);
    off_t out = ToOffset(target);
    return copy_file_range(from.file[s].get(), &in, to.file[s].get(), &out, length, 0);
  });
}

void Sides::Flush() {
  for (Slot& slot : slots_) {
    for (std::byte* map : slot.map) {
      if (map != nullptr) (void)msync(map, slot.mapped, MS_SYNC);
    }
  }
}

}  // namespace tornfs
