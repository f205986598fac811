// Engine: the filesystem behind a mount, without the mount. It serves the calls of programs on the
// current tree, keeps apart what is durable and what is pending, and turns a power loss into a new
// current tree.
//
//   base      tree at the start plus everything made durable since
//   pending   effects performed and not yet durable
//   current   what processes see: the base with every pending effect
//
// Callers check permissions first (the kernel does, by mode bits); the engine checks everything
// else and answers as Linux does on ext4.
//
// Every state-changing call that succeeds is one op with the next number. Calls that fail, and
// calls that change nothing (a write of no bytes), are no ops.
//
// An inode whose last name is gone lives while it is pinned: by the kernel's lookups and by open
// handles. Node ids and epochs are the mount's affair (fusefs/fuse).
//
// Threads: none; one engine belongs to one loop. Cost: see design figures; a call is one or two
// microseconds plus the copy of the bytes written.
#pragma once

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "fusefs/core/content_store.h"
#include "fusefs/core/errno.h"
#include "fusefs/core/fault.h"
#include "fusefs/core/frozen_times.h"
#include "fusefs/core/model.h"
#include "fusefs/core/pending.h"
#include "fusefs/core/recording.h"
#include "fusefs/core/tree.h"
#include "fusefs/core/window.h"

namespace tornfs {

// For a time in AttributeChange: that of the op, as UTIME_NOW asks.
inline constexpr Nanoseconds kTimeOfOp = INT64_MIN;

// What SetAttributes is to change; absent fields stay.
struct AttributeChange {
  std::optional<mode_t> mode = {};  // Permission bits.
  std::optional<uid_t> uid = {};
  std::optional<gid_t> gid = {};
  std::optional<Nanoseconds> atime = {};
  std::optional<Nanoseconds> mtime = {};
};

// One entry of a listing. `cookie` continues after it; "." and ".." come first.
struct ListedEntry {
  std::string_view name;
  Ino ino;
  mode_t type;  // S_IFMT bits.
  std::uint64_t cookie;
};

class Engine {
 public:
  // Gives the time of the next op, in nanoseconds since 1970.
  using Clock = std::function<Nanoseconds()>;

  // `store` and `model` must outlive the engine. The tree is empty until Load.
  Engine(ContentStore& store, const Model& model, Clock clock);

  // --- life ---

  // Starts again from `base`, as after a mount, a kill or a power loss: pins are forgotten, the
  // current tree is the base with its pending effects. With `record`, a new recording begins.
  void Load(Base base, bool record);
  // Everything up to now, as a value. The current pending effects stay pending.
  [[nodiscard]] Base Snapshot() const;
  // The recording since Load(.., true); null if none is kept.
  [[nodiscard]] const Recording* recording() const { return recording_.get(); }
  [[nodiscard]] std::unique_ptr<Recording> TakeRecording();
  // From the next Load on, Stat shows these times, and blocks that follow from the size, for every
  // inode that was not changed since; null: those of the tree.
  void Freeze(std::shared_ptr<const FrozenTimes> times) { frozen_ = std::move(times); }
  // Starts from the start of `recorded` and makes its ops again, recording them: the same history
  // under this engine's model. The engine's store must be the one that `recorded` refers to;
  // nothing is added to it.
  void Replay(const Recording& recorded);
  // Notes a line of standard output at this place of the history. Without a recording it is lost.
  void AddPromise(std::string line);
  // From now on memory is bounded, whenever nothing is recorded: contents that neither a tree nor a
  // pending effect refers to are let go (content_store.h, Sweep), and when effects pend beyond what
  // the store's memory limit has room for, the oldest become durable, as a kernel writes back old
  // pages. For an owner that keeps no tree or window from one call to the next; a
  // ContentStore::Hold covers exceptions.
  void BoundMemory();
  // Effects that became durable for want of memory.
  [[nodiscard]] std::uint64_t written_back() const { return written_back_; }
  // Makes everything durable, as sync does, without being an op.
  void SettleAll();
  [[nodiscard]] const Tree& current() const { return current_; }
  [[nodiscard]] const Tree& durable() const { return durable_; }
  [[nodiscard]] const Pending& pending() const { return pending_; }
  [[nodiscard]] const Model& model() const { return *model_; }
  [[nodiscard]] ContentStore& store() const { return *store_; }
  [[nodiscard]] OpNumber next_op() const { return next_op_; }

  // --- reading: no ops ---

  // Errors: ENOENT, ENOTDIR, ENAMETOOLONG. "." and ".." are understood.
  [[nodiscard]] Outcome<Ino> Lookup(Ino dir, std::string_view name) const;
  // Fills st_ino, st_mode, ... st_blocks; st_blksize is 4096. Errors: ENOENT for an unknown inode.
  [[nodiscard]] Outcome<struct stat> Stat(Ino ino) const;
  [[nodiscard]] Outcome<std::string_view> ReadLink(Ino ino) const;
  // Pointers to the bytes of [offset, offset + length) that lie below the size.
  [[nodiscard]] Outcome<std::uint64_t> Read(Ino ino, std::uint64_t offset, std::uint64_t length,
                                            std::vector<iovec>& out) const;
  // SEEK_DATA or SEEK_HOLE. Errors: ENXIO, EINVAL.
  [[nodiscard]] Outcome<std::uint64_t> Seek(Ino ino, std::uint64_t offset, int whence) const;
  // Calls `add` for each entry after `cookie` (0 starts) until it answers false.
  [[nodiscard]] Outcome<void> List(Ino dir, std::uint64_t cookie,
                                   const std::function<bool(const ListedEntry&)>& add) const;
  [[nodiscard]] struct statvfs StatFs() const;

  // Names by namespace: user., trusted., security., and the two ACLs of system.
  // Errors: ENODATA, EOPNOTSUPP for other namespaces.
  [[nodiscard]] Outcome<std::string_view> GetXattr(Ino ino, std::string_view name) const;
  // Every name, each with a NUL behind it; those of trusted. only on request.
  [[nodiscard]] Outcome<std::string> ListXattrs(Ino ino, bool trusted) const;
  // What FS_IOC_GETFLAGS shows.
  [[nodiscard]] Outcome<std::uint32_t> Flags(Ino ino) const;
  // Empty where it is not known.
  [[nodiscard]] std::optional<timespec> BirthTime(Ino ino) const;
  // What open(2) with `flags` is refused for by FS_IMMUTABLE_FL and FS_APPEND_FL: EPERM.
  [[nodiscard]] Outcome<void> MayOpen(Ino ino, int flags) const;

  // --- names ---

  // New inodes get their permissions from `mode` and the caller's umask, or from the directory's
  // default ACL. What FS_IMMUTABLE_FL and FS_APPEND_FL forbid is EPERM everywhere.

  // Regular files, fifos, sockets, devices. `mode` has the type.
  // Errors: EEXIST, ENOENT (the directory is deleted), ENOTDIR, ENAMETOOLONG, EINVAL, ENOSPC.
  [[nodiscard]] Outcome<Ino> MakeNode(const Caller& caller, Ino dir, std::string_view name,
                                      mode_t mode, dev_t device, OpKind kind = OpKind::kCreate);
  [[nodiscard]] Outcome<Ino> MakeDirectory(const Caller& caller, Ino dir, std::string_view name,
                                           mode_t mode);
  [[nodiscard]] Outcome<Ino> MakeSymlink(const Caller& caller, Ino dir, std::string_view name,
                                         std::string_view target);
  // A regular file without a name, which Link may give it.
  [[nodiscard]] Outcome<Ino> MakeUnnamed(const Caller& caller, Ino dir, mode_t mode);
  // Errors: EPERM (directory), EMLINK, EEXIST, ENOENT (the inode has no name any more).
  [[nodiscard]] Outcome<void> Link(const Caller& caller, Ino ino, Ino dir, std::string_view name);
  // Errors: EISDIR, ENOENT.
  [[nodiscard]] Outcome<void> Unlink(const Caller& caller, Ino dir, std::string_view name);
  // Errors: ENOTDIR, ENOTEMPTY, ENOENT.
  [[nodiscard]] Outcome<void> RemoveDirectory(const Caller& caller, Ino dir, std::string_view name);
  // `flags` of renameat2; RENAME_WHITEOUT leaves a device node 0:0 under the old name.
  // Combinations that renameat2 does not take are EINVAL.
  [[nodiscard]] Outcome<void> Rename(const Caller& caller, Ino dir, std::string_view name,
                                     Ino new_dir, std::string_view new_name, unsigned flags);

  // --- contents ---

  // Writes `bytes` at `offset`, growing the file if needed. `joins` says that this is the rest of
  // the write(2) that made the last op: it becomes part of that op.
  // Errors: EFBIG, ENOSPC.
  [[nodiscard]] Outcome<void> Write(const Caller& caller, Ino ino, std::uint64_t offset,
                                    std::span<const std::byte> bytes, bool joins = false);
  // Pages of a shared mapping that the kernel writes back: never grows the file.
  [[nodiscard]] Outcome<void> WriteBack(const Caller& caller, Ino ino, std::uint64_t offset,
                                        std::span<const std::byte> bytes);
  [[nodiscard]] Outcome<void> Truncate(const Caller& caller, Ino ino, std::uint64_t size);
  // `mode` of fallocate: 0, KEEP_SIZE, PUNCH_HOLE | KEEP_SIZE, ZERO_RANGE [| KEEP_SIZE].
  // Errors: EOPNOTSUPP for other modes, EFBIG.
  [[nodiscard]] Outcome<void> Allocate(const Caller& caller, Ino ino, int mode,
                                       std::uint64_t offset, std::uint64_t length);
  // Copies at most `length` bytes; returns how many. Errors: EINVAL for overlapping ranges.
  [[nodiscard]] Outcome<std::uint64_t> CopyRange(const Caller& caller, Ino from,
                                                 std::uint64_t from_offset, Ino to,
                                                 std::uint64_t to_offset, std::uint64_t length);
  [[nodiscard]] Outcome<void> SetAttributes(const Caller& caller, Ino ino,
                                            const AttributeChange& wanted);

  // `flags` of setxattr. Setting an ACL sets the mode bits that show it, and chmod changes the ACL.
  // Errors: EEXIST, ENODATA, EOPNOTSUPP, EINVAL (no ACL), EACCES (default ACL of a file), ENOSPC.
  [[nodiscard]] Outcome<void> SetXattr(const Caller& caller, Ino ino, std::string_view name,
                                       std::string_view value, int flags);
  [[nodiscard]] Outcome<void> RemoveXattr(const Caller& caller, Ino ino, std::string_view name);
  // Errors: EOPNOTSUPP for flags other than those that tmpfs knows.
  [[nodiscard]] Outcome<void> SetFlags(const Caller& caller, Ino ino, std::uint32_t flags);

  // --- barriers ---

  // kFsync or kFdatasync of a file, kFsyncdir of a directory, kSyncfs of everything (any ino).
  [[nodiscard]] Outcome<void> Barrier(const Caller& caller, OpKind kind, Ino ino);

  // A barrier on a file failed. True if programs see the file otherwise than before, so that what
  // the kernel has cached of it must go. A recording does not show it.
  bool FailBarrier(Ino ino, Aftermath aftermath);

  // --- life of inodes ---

  void Pin(Ino ino, std::uint64_t count = 1);
  void Unpin(Ino ino, std::uint64_t count = 1);

  // --- crashes ---

  // What a power loss now can do.
  [[nodiscard]] Window CrashWindow(Tear tear) const;
  // Loses power: the state that `choice` gives is durable and current, nothing is pending. Ops go
  // on counting; a recording ends (take it first).
  void PowerLoss(const Window& window, const Choice& choice);

 private:
  // An op in the making: its effects are in the current tree already.
  struct Change {
    Op op;
    std::vector<Effect> effects;
  };
  [[nodiscard]] Change Begin(OpKind kind, const Caller& caller, Ino ino);
  // Adds an effect to `change` and applies it to the current tree.
  void Make(Change& change, Effect effect);
  void MakeEntry(Change& change, Ino dir, std::string_view name, Ino child,
                 GroupTag group = GroupTag::kAlone);
  void MakeData(Change& change, Ino ino, std::uint64_t offset, std::uint64_t length,
                ContentPosition content, GroupTag group = GroupTag::kAlone);
  void MakeSize(Change& change, Ino ino, std::uint64_t size, GroupTag group = GroupTag::kAlone);
  void MakeValue(Change& change, CellKind kind, Ino ino, std::uint64_t value,
                 GroupTag group = GroupTag::kAlone);
  void MakeXattr(Change& change, Ino ino, std::string_view name,
                 std::optional<std::string_view> value, GroupTag group = GroupTag::kAlone);
  // What changing a file's contents or owner takes away: security.capability, and with `set_id`
  // the set-id bits.
  void ClearPrivileges(Change& change, Ino ino, const Caller& caller, bool set_id);
  // Gives the op its number, records it, and sorts its effects into durable and pending.
  void Commit(Change change, bool joins = false);

  [[nodiscard]] Outcome<const Inode*> Directory(Ino dir) const;
  [[nodiscard]] Outcome<const Inode*> Regular(Ino ino) const;
  // EPERM where FS_IMMUTABLE_FL or FS_APPEND_FL forbids to change an inode, or to remove a name.
  [[nodiscard]] static Outcome<void> MayChange(const Inode& inode);
  [[nodiscard]] Outcome<void> MayRemove(const Inode& dir, Ino child) const;
  // The directory `dir` if `name` can be made in it.
  [[nodiscard]] Outcome<void> FreeName(Ino dir, std::string_view name) const;
  [[nodiscard]] Outcome<Ino> AddInode(const Caller& caller, Ino dir, std::string_view name,
                                      Inode inode, OpKind kind);
  // Whether `dir` is `from` or above it; true for what is not below the root.
  [[nodiscard]] bool IsAbove(Ino dir, Ino from) const;
  [[nodiscard]] Outcome<void> MayReplace(const Entry& moved, const Entry& replaced) const;
  // Gives a new inode what the directory and the caller say.
  void Endow(const Caller& caller, const Inode& dir, Inode& inode) const;
  // Adds a new inode without a name to both trees.
  [[nodiscard]] Ino Bear(const Change& change, Inode inode);
  [[nodiscard]] Outcome<void> SetAcl(const Caller& caller, Ino ino, std::string_view name,
                                     std::string_view value);
  // Times and reserved pages are no cells: changes of them go to both trees.
  template <class Function>
  void InBothTrees(Ino ino, Function&& change);
  void Cut(Change& change, Ino ino, std::uint64_t size);
  // `ino` is about to change: its times are its own from here on.
  void Thaw(Ino ino);
  void Reserve(Ino ino, int mode, std::uint64_t offset, std::uint64_t length,
               const ExtentMap& before);
  // Makes durable what barrier `kind` on `ino` does, in the name of op `by`.
  void CarryOut(OpKind kind, Ino ino, OpNumber by);
  // Makes `items` durable in the name of op `by`.
  void Settle(const std::vector<Pending::Item>& items, OpNumber by);
  // Lets go of an inode that nothing leads to any more.
  void Collect(Ino ino, OpNumber by);
  void DropDurable(Ino ino, OpNumber by);
  // Appends to the store, which may first have to let go of something. Errors: ENOSPC.
  [[nodiscard]] Outcome<ContentPosition> Keep(std::span<const std::byte> bytes);
  // Whether there is memory for one more inode.
  [[nodiscard]] bool HasRoom();
  void Sweep();
  void WriteBackOldest();

  ContentStore* store_;
  const Model* model_;
  Clock clock_;
  Tree durable_;
  Tree current_;
  Pending pending_;
  std::unique_ptr<Recording> recording_;
  std::unordered_map<Ino, std::uint64_t> pins_;
  std::shared_ptr<const FrozenTimes> frozen_;
  std::unordered_set<Ino> thawed_;
  OpNumber next_op_ = 1;
  std::uint64_t settled_ = 0;  // Times something became durable since Load.
  Ino next_ino_ = kRootIno + 1;
  Ino first_new_ = kRootIno + 1;  // See Base.
  std::set<Ino> logged_;
  Nanoseconds last_time_ = 0;
  bool bounded_ = false;
  bool garbage_ = false;  // Something may have become free since the last sweep.
  std::size_t most_pending_ = SIZE_MAX;
  std::uint64_t written_back_ = 0;
};

template <class Function>
void Engine::InBothTrees(Ino ino, Function&& change) {
  for (Tree* tree : {&current_, &durable_}) {
    if (tree->Find(ino) != nullptr) change(tree->Change(ino));
  }
}

}  // namespace tornfs
