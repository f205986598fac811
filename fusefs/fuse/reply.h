// Replies as values: a handler computes one and Serve sends it, so every request is answered
// exactly once, whatever happens in between.
#pragma once

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

#include "fusefs/core/errno.h"
#include "fusefs/core/types.h"
#include "fusefs/fuse/lowlevel.h"
#include "fusefs/fuse/mount_context.h"

namespace tornfs {

inline constexpr Errno kSuccess{0};

// A name that leads to an inode, which the kernel remembers; or, with kNoIno, to none.
struct EntryReply {
  Ino ino = kNoIno;
  struct stat attributes {};
};
struct AttributesReply {
  Ino ino = kNoIno;
  struct stat attributes {};
};
// An open handle; with an entry if the file was created.
struct OpenReply {
  Ino ino = kNoIno;
  fuse_file_info file{};
};
struct CreateReply {
  EntryReply entry;
  fuse_file_info file{};
};
struct CountReply {
  std::uint64_t bytes = 0;
};
struct OffsetReply {
  std::uint64_t offset = 0;
};
// What these point to stays until the reply is sent: MountContext or the content store.
struct TextReply {
  std::string_view text;
};
struct PiecesReply {
  std::span<const iovec> pieces;
};
// The room that an attribute's value, or the list of them, takes.
struct SizeReply {
  std::size_t bytes = 0;
};
struct IoctlReply {
  std::string_view out;
};
struct StatFsReply {
  struct statvfs values {};
};

// An Errno of 0 is success without data.
using Reply = std::variant<Errno, EntryReply, AttributesReply, OpenReply, CreateReply, CountReply,
                           OffsetReply, TextReply, PiecesReply, StatFsReply, SizeReply, IoctlReply>;

// Sends `reply`. If the hook refused the request, the owner is told afterwards.
void Send(fuse_req_t req, MountContext& context, const Reply& reply);

// To be called while an exception is handled: ENOMEM, or EIO with an ERROR line.
[[nodiscard]] Errno ErrnoOfException();

// Answers `req` with what `handler`, given the MountContext, returns.
template <class Handler>
void Serve(fuse_req_t req, Handler&& handler) {
  auto& context = *static_cast<MountContext*>(fuse_req_userdata(req));
  const auto guarded = [&]() -> Reply {
    try {
      return handler(context);
    } catch (...) {
      return ErrnoOfException();
    }
  };
  Send(req, context, guarded());
}

// The reply to a call that answers with nothing but success.
[[nodiscard]] inline Reply ReplyOf(const Outcome<void>& outcome) {
  return outcome ? kSuccess : outcome.error();
}

// Looks at `ino` as the answer to a name.
[[nodiscard]] Reply EntryOf(MountContext& context, Ino ino);

// How the kernel is to remember an inode.
[[nodiscard]] fuse_entry_param EntryParameters(const MountContext& context,
                                               const EntryReply& entry);

}  // namespace tornfs
