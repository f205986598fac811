// STATX, which libfuse 3.14 does not know: the attributes with the time of birth.
#include <linux/stat.h>
#include <sys/sysmacros.h>

#include <cstring>

#include "fusefs/fuse/ops.h"

namespace tornfs {

namespace {

StatxOut::Time TimeOf(const timespec& time) {
  return {time.tv_sec, static_cast<std::uint32_t>(time.tv_nsec), 0};
}

}  // namespace

Outcome<StatxOut> PerformStatx(MountContext& context, Ino ino) {
  const auto attributes = context.Stat(ino);
  if (!attributes) return tl::make_unexpected(attributes.error());
  StatxOut out{};
  out.valid_seconds = NodeTable::IsSpecial(ino) ? 0 : 1'000'000'000;
  out.mask = STATX_BASIC_STATS;
  out.blksize = static_cast<std::uint32_t>(attributes->st_blksize);
  out.nlink = static_cast<std::uint32_t>(attributes->st_nlink);
  out.uid = attributes->st_uid;
  out.gid = attributes->st_gid;
  out.mode = static_cast<std::uint16_t>(attributes->st_mode);
  out.ino = attributes->st_ino;
  out.size = static_cast<std::uint64_t>(attributes->st_size);
  out.blocks = static_cast<std::uint64_t>(attributes->st_blocks);
  out.atime = TimeOf(attributes->st_atim);
  out.ctime = TimeOf(attributes->st_ctim);
  out.mtime = TimeOf(attributes->st_mtim);
  out.rdev_major = major(attributes->st_rdev);
  out.rdev_minor = minor(attributes->st_rdev);
  if (const auto birth = context.engine.BirthTime(ino); birth) {
    out.mask |= STATX_BTIME;
    out.btime = TimeOf(*birth);
  }
  return out;
}

}  // namespace tornfs
