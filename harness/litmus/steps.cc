#include "harness/litmus/steps.h"

#include <fcntl.h>
#include <linux/falloc.h>

#include <cstring>

namespace tornfs::harness {
namespace {

// One step on an engine. Methods answer errno, 0 for success.
class Performer {
 public:
  Performer(Engine& engine, UnnamedFiles& unnamed) : engine_(engine), unnamed_(unnamed) {}

  int Do(const LitmusStep& step) {
    const Ino dir = Directory(step.path);
    const std::string name = step.path.substr(step.path.rfind('/') + 1);
    switch (step.call) {
      case LitmusCall::kCreate:
        return Code(engine_.MakeNode(caller_, dir, name, S_IFREG | 0644, 0));
      case LitmusCall::kMkdir: return Code(engine_.MakeDirectory(caller_, dir, name, 0755));
      case LitmusCall::kSymlink: return Code(engine_.MakeSymlink(caller_, dir, name, step.other));
      case LitmusCall::kUnlink: return Code(engine_.Unlink(caller_, dir, name));
      case LitmusCall::kRmdir: return Code(engine_.RemoveDirectory(caller_, dir, name));
      case LitmusCall::kLink:
        return Code(engine_.Link(caller_, At(step.path), Directory(step.other), Name(step.other)));
      case LitmusCall::kRename:
        return Code(engine_.Rename(caller_, dir, name, Directory(step.other), Name(step.other), 0));
      case LitmusCall::kTmpfile: return MakeUnnamed(step.path);
      case LitmusCall::kClose: return 0;
      case LitmusCall::kSync: return Code(engine_.Barrier(caller_, OpKind::kSyncfs, kRootIno));
      default: return OnFile(step);
    }
  }

 private:
  template <class T>
  static int Code(const Outcome<T>& outcome) {
    return outcome ? 0 : static_cast<int>(outcome.error());
  }
  static std::string Name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

  int MakeUnnamed(const std::string& called) {
    const auto made = engine_.MakeUnnamed(caller_, kRootIno, 0644);
    if (made) unnamed_[called] = *made;
    return Code(made);
  }

  // The inode at `path`, or one that no call knows.
  Ino At(const std::string& path) {
    if (const auto unnamed = unnamed_.find(path); unnamed != unnamed_.end()) return unnamed->second;
    Ino ino = kRootIno;
    for (std::size_t begin = 0; begin < path.size() && path != ".";) {
      const std::size_t end = std::min(path.find('/', begin), path.size());
      const auto next = engine_.Lookup(ino, path.substr(begin, end - begin));
      if (!next) return kNoIno;
      ino = *next;
      begin = end + 1;
    }
    return ino;
  }
  Ino Directory(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? kRootIno : At(path.substr(0, slash));
  }

  int OnFile(const LitmusStep& step) {
    if (step.call == LitmusCall::kWrite && At(step.path) == kNoIno) {
      const auto made =
          engine_.MakeNode(caller_, Directory(step.path), Name(step.path), S_IFREG | 0644, 0);
      if (!made) return static_cast<int>(made.error());
    }
    const auto stat = engine_.Stat(At(step.path));
    if (!stat) return static_cast<int>(stat.error());
    const Ino ino = stat->st_ino;
    const auto size = static_cast<std::uint64_t>(stat->st_size);
    switch (step.call) {
      case LitmusCall::kWrite: return Write(step, ino, step.offset.value_or(size));
      case LitmusCall::kStore: return Store(step, ino);
      case LitmusCall::kTruncate: return Code(engine_.Truncate(caller_, ino, step.number));
      case LitmusCall::kAllocate:
        return Code(engine_.Allocate(caller_, ino, step.keep_size ? FALLOC_FL_KEEP_SIZE : 0,
                                     *step.offset, step.number));
      case LitmusCall::kPunch:
        return Code(engine_.Allocate(caller_, ino, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                     *step.offset, step.number));
      case LitmusCall::kChmod: {
        AttributeChange change;
        change.mode = static_cast<mode_t>(step.number);
        return Code(engine_.SetAttributes(caller_, ino, change));
      }
      case LitmusCall::kSetxattr:
        return Code(engine_.SetXattr(caller_, ino, step.other, step.bytes, 0));
      case LitmusCall::kCopy:
        return Code(engine_.CopyRange(caller_, ino, 0, At(step.other), 0, size));
      case LitmusCall::kFdatasync: return Code(engine_.Barrier(caller_, OpKind::kFdatasync, ino));
      default: break;
    }
    const OpKind kind = S_ISDIR(stat->st_mode) ? OpKind::kFsyncdir : OpKind::kFsync;
    return Code(engine_.Barrier(caller_, kind, ino));
  }

  int Write(const LitmusStep& step, Ino ino, std::uint64_t offset) {
    const auto bytes = std::as_bytes(std::span(step.bytes));
    const std::uint64_t page_end = (offset / kPageBytes + 1) * kPageBytes;
    const bool split = offset % kPageBytes != 0 && offset + bytes.size() > page_end;
    const std::size_t first = split ? page_end - offset : bytes.size();
    if (const int code = Code(engine_.Write(caller_, ino, offset, bytes.first(first)))) return code;
    if (split) {
      const auto rest = engine_.Write(caller_, ino, page_end, bytes.subspan(first), true);
      if (!rest) return static_cast<int>(rest.error());
    }
    if (step.flag == WriteFlag::kNone) return 0;
    const OpKind kind = step.flag == WriteFlag::kSync ? OpKind::kFsync : OpKind::kFdatasync;
    return Code(engine_.Barrier(caller_, kind, ino));
  }

  int Store(const LitmusStep& step, Ino ino) {
    const auto bytes = std::as_bytes(std::span(step.bytes));
    for (std::uint64_t done = 0; done < bytes.size();) {
      const std::uint64_t at = *step.offset + done;
      const std::uint64_t n = std::min(kPageBytes - at % kPageBytes, bytes.size() - done);
      if (const int code = Code(engine_.WriteBack(caller_, ino, at, bytes.subspan(done, n)))) {
        return code;
      }
      done += n;
    }
    return 0;
  }

  Engine& engine_;
  UnnamedFiles& unnamed_;
  Caller caller_;
};

}  // namespace

Status Perform(const LitmusStep& step, Engine& engine, UnnamedFiles& unnamed) {
  const int code = Performer(engine, unnamed).Do(step);
  if (code == 0) return {};
  return Fail(ErrorCode::kInvalid, "a step on " + step.path + " fails: " + std::strerror(code));
}

}  // namespace tornfs::harness
