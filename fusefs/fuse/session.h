// Session: a libfuse session with a receive loop of our own.
//
// libfuse 3.14 is asked only for what it knows: requests on nodes of earlier epochs, and the
// opcodes that are newer than it, are answered here from their header.
//
// Threads: the loop's; Notify* also from the helper thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/result.h"
#include "fusefs/fuse/lowlevel.h"
#include "fusefs/fuse/mount_context.h"

namespace tornfs {

class Session {
 public:
  // Mounts. `context` must outlive the session. Errors: kMissing without /dev/fuse or without the
  // right to mount; kIo.
  [[nodiscard]] static Result<std::unique_ptr<Session>> Mount(MountContext& context);
  // Unmounts.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Does not block.
  [[nodiscard]] int fd() const;
  [[nodiscard]] bool ended() const;

  // Serves one request, if there is one, and tells whether there was. May be called while another
  // one is being served.
  bool ServeOne();

  // Makes every dentry of the mount be looked up again: FUSE_NOTIFY_INC_EPOCH. Never blocks.
  // Returns false where the kernel does not know it.
  [[nodiscard]] bool NotifyEpoch();
  // Drops the attributes of a node. Never blocks.
  void NotifyAttributes(fuse_ino_t node);
  // Drops pages and attributes of a node. Waits for pages that are being read or written, and has
  // dirty ones written first: to be called from the helper thread.
  void NotifyPages(fuse_ino_t node);
  // Drops a name of the root. Waits for calls that change the root: from the helper thread.
  void NotifyName(const std::string& name);

 private:
  Session(MountContext& context, fuse_session* session);
  // Whether the request is answered, or needs no answer.
  [[nodiscard]] bool AnswerByHeader(const fuse_buf& buffer);
  void ReplyError(std::uint64_t unique, int error);
  void AnswerStatx(std::uint64_t unique, fuse_ino_t node);

  MountContext& context_;
  fuse_session* session_;
  bool mounted_ = false;
  std::vector<fuse_buf> buffers_;  // One per depth of nested serving; libfuse allocates them.
  std::size_t depth_ = 0;
};

// Tells libfuse what to negotiate (an `init` handler).
void OpInit(void* userdata, fuse_conn_info* connection);

}  // namespace tornfs
