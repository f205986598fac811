// CREATE: makes a regular file and opens it; and TMPFILE, which makes one without a name.
#include <fcntl.h>

#include "fusefs/fuse/change.h"
#include "fusefs/fuse/new_inode.h"
#include "fusefs/fuse/open_file.h"
#include "fusefs/fuse/ops.h"
#include "fusefs/fuse/reply.h"

namespace tornfs {

namespace {

// The name exists after all: a request that was on its way when the epoch changed.
Reply OpenExisting(MountContext& context, fuse_req_t req, Ino dir, const char* name,
                   const fuse_file_info& file) {
  if ((file.flags & O_EXCL) != 0) return Errno{EEXIST};
  const auto ino = context.engine.Lookup(dir, name);
  if (!ino) return ino.error();
  const Outcome<fuse_file_info> opened = OpenFileOf(context, req, *ino, file);
  if (!opened) return opened.error();
  const auto attributes = context.Stat(*ino);
  if (!attributes) return attributes.error();
  return CreateReply{{*ino, *attributes}, *opened};
}

}  // namespace

void OpCreate(fuse_req_t req, fuse_ino_t parent, const char* name, mode_t mode,
              fuse_file_info* file) {
  Serve(req, [&](MountContext& context) -> Reply {
    const Ino dir = NodeTable::InoOf(parent);
    if (IsReserved(dir, name)) return Errno{EPERM};
    AskNewInode(context, req, dir, name);
    const NewInode made = NewInodeIn(context, CallerOf(req), dir, S_IFREG | (mode & 07777));
    const bool unnamed = context.request.unnamed;
    const Intent intent =
        unnamed ? Intent{OpKind::kTmpfile, dir} : Intent{OpKind::kCreate, dir, name};
    const auto ino = Change(context, made.caller, intent, [&] {
      return unnamed ? context.engine.MakeUnnamed(made.caller, dir, made.mode)
                     : context.engine.MakeNode(made.caller, dir, name, made.mode, 0);
    });
    if (!ino && ino.error() == Errno{EEXIST}) {
      return OpenExisting(context, req, dir, name, *file);
    }
    if (!ino) return ino.error();
    const auto attributes = context.Stat(*ino);
    if (!attributes) return attributes.error();
    return CreateReply{{*ino, *attributes}, CachedFile(*file)};
  });
}

}  // namespace tornfs
