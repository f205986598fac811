// IOCTL: the flags of chattr(1), in both of the forms in which the kernel asks for them.
#include <linux/fs.h>

#include <array>
#include <cstring>
#include <utility>

#include "fusefs/fuse/change.h"
#include "fusefs/fuse/ops.h"
#include "fusefs/fuse/reply.h"

namespace tornfs {

namespace {

constexpr std::array<std::pair<std::uint32_t, std::uint32_t>, 4> kFlags{
    {{FS_IMMUTABLE_FL, FS_XFLAG_IMMUTABLE},
     {FS_APPEND_FL, FS_XFLAG_APPEND},
     {FS_NOATIME_FL, FS_XFLAG_NOATIME},
     {FS_NODUMP_FL, FS_XFLAG_NODUMP}}};

Reply Get(MountContext& context, Ino ino, bool extended) {
  const auto flags = context.engine.Flags(ino);
  if (!flags) return flags.error();
  context.buffer.clear();
  const auto put = [&](const auto& value) {
    const char* bytes = reinterpret_cast<const char*>(&value);
    context.buffer.assign(bytes, bytes + sizeof value);
  };
  if (extended) {
    fsxattr attributes{};
    for (const auto& [flag, extended_flag] : kFlags) {
      if ((*flags & flag) != 0) attributes.fsx_xflags |= extended_flag;
    }
    put(attributes);
  } else {
    put(*flags);
  }
  return IoctlReply{{context.buffer.data(), context.buffer.size()}};
}

// Errors: EINVAL for a request that is too short, EOPNOTSUPP for flags that there are not.
Outcome<std::uint32_t> Wanted(std::string_view bytes, bool extended) {
  std::uint32_t flags = 0;
  if (!extended) {
    if (bytes.size() < sizeof flags) return Refuse(EINVAL);
    std::memcpy(&flags, bytes.data(), sizeof flags);
    return flags;
  }
  fsxattr attributes{};
  if (bytes.size() < sizeof attributes) return Refuse(EINVAL);
  std::memcpy(&attributes, bytes.data(), sizeof attributes);
  std::uint32_t known = 0;
  for (const auto& [flag, extended_flag] : kFlags) {
    known |= extended_flag;
    if ((attributes.fsx_xflags & extended_flag) != 0) flags |= flag;
  }
  if ((attributes.fsx_xflags & ~known) != 0 || attributes.fsx_projid != 0) {
    return Refuse(EOPNOTSUPP);
  }
  return flags;
}

}  // namespace

void OpIoctl(fuse_req_t req, fuse_ino_t node, unsigned command, void* /*argument*/,
             fuse_file_info* /*file*/, unsigned /*flags*/, const void* in, std::size_t in_size,
             std::size_t /*out_size*/) {
  Serve(req, [&](MountContext& context) -> Reply {
    const Ino ino = NodeTable::InoOf(node);
    if (NodeTable::IsSpecial(ino)) return Errno{ENOTTY};
    context.Ask(req, {Question::Kind::kOwner, ino, 0, {}});
    const bool extended = command == FS_IOC_FSGETXATTR || command == FS_IOC_FSSETXATTR;
    if (command == FS_IOC_GETFLAGS || command == FS_IOC_FSGETXATTR) {
      return Get(context, ino, extended);
    }
    if (command != FS_IOC_SETFLAGS && command != FS_IOC_FSSETXATTR) return Errno{ENOTTY};
    const auto wanted = Wanted({static_cast<const char*>(in), in_size}, extended);
    if (!wanted) return wanted.error();
    const Caller caller = CallerOf(req);
    const auto done = Change(context, caller, {OpKind::kSetflags, ino},
                             [&] { return context.engine.SetFlags(caller, ino, *wanted); });
    if (!done) return done.error();
    return IoctlReply{};
  });
}

}  // namespace tornfs
