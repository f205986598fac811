// Server: an Engine as a mounted filesystem, over libfuse's low-level API. No semantics here.
//
// Epochs. A crash or a restart gives the engine another tree while the mount stays. Each such tree
// is an epoch, and node ids carry its number:
//
//   node id = epoch << 40 | inode number      the root is always 1
//
// A request on a node of an earlier epoch is answered EIO and changes nothing; reads too. What was
// cached of it is dropped by BeginEpoch and FinishNotifications. st_ino is the inode number alone.
// A handle on the root, or a working directory there, goes on into the next epoch.
//
// Caching. Entries, missing names, attributes and pages are cached by the kernel without limit:
// nothing changes but through the kernel. WRITEBACK_CACHE is never asked for, so writes arrive one
// by one, in order and with their caller; the parts into which the kernel cuts one write(2) are
// joined again. Pages of shared mappings arrive when the kernel writes them back: see PullPages.
//
// Special files in the root, found by name and never listed:
//   .tornfs-stdout     append-only whatever the offset; each line is a promise at that place of the
//                      history. st_blksize is 1, so stdio writes every line as it is printed.
//   .tornfs-promises   read-only text set by the owner.
// Operations on them are no ops; creating, renaming or removing such names is EPERM.
//
// Threads: everything on the thread that pumps the loop. A helper thread, started when first needed
// and joined by StopThreads, makes the calls that may wait for this very loop: notifications that
// take locks, syncfs, and what the owner hands to RunElsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "common/result.h"
#include "fusefs/core/engine.h"
#include "fusefs/core/question.h"
#include "fusefs/fuse/event_loop.h"
#include "fusefs/fuse/fault_hook.h"
#include "fusefs/fuse/hook.h"

namespace tornfs {

inline constexpr const char* kStdoutName = ".tornfs-stdout";
inline constexpr const char* kPromisesName = ".tornfs-promises";

struct MountOptions {
  std::string mount_point;  // An existing directory.
  bool allow_other = false;
  // The kernel checks mode bits for callers other than root. Always on with allow_other and when
  // this process is not root; otherwise it only costs a GETATTR per change of a directory.
  bool check_permissions = false;
  // Bytes the kernel may read beyond what a program asked for. 4096: none.
  std::uint32_t max_readahead = 128U << 10;
  // Listings bring the attributes of their entries when the kernel thinks they will be needed.
  bool readdirplus = true;
  // Mounts on a loop device, so that sync(2) and syncfs(2) are seen and are barriers. Needs root;
  // where it cannot be had the mount is an ordinary one: see Server::sees_syncs.
  bool see_syncs = false;
  // Makes old names unreachable by FUSE_NOTIFY_INC_EPOCH where the kernel knows it (6.16). Off: the
  // way for older kernels, one notification per name looked up in the root.
  bool use_kernel_epochs = true;
};

class Server {
 public:
  // Mounts and serves until the kernel has said hello. `engine` and `loop` must outlive the server.
  // Errors: kMissing without /dev/fuse or without the right to mount; kIo.
  [[nodiscard]] static Result<std::unique_ptr<Server>> Mount(Engine& engine, EventLoop& loop,
                                                             const MountOptions& options);
  // Unmounts if that has not been done.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] Engine& engine() { return engine_; }
  // Pumping it serves the mount.
  [[nodiscard]] EventLoop& loop() { return loop_; }
  [[nodiscard]] const std::string& mount_point() const;
  // Unmounted from outside, or the connection was aborted.
  [[nodiscard]] bool mount_died() const;
  // Detaches the mount and ends the connection: programs still using it get ENOTCONN. Stores
  // through shared mappings that have not been pulled are lost. Not to be called from a Hook.
  void Unmount();

  // --- epochs ---

  [[nodiscard]] std::uint64_t epoch() const;
  // The engine has another tree now (Load, PowerLoss): call this before the loop is pumped
  // again. Every node below the root is dead from here on. Ends Quiesce. The names of the old epoch
  // cannot be reached any more when this returns; cached pages and attributes behind open handles
  // and working directories may still show until FinishNotifications.
  void BeginEpoch();
  // Pumps until the kernel holds nothing of earlier epochs. Must not be called while a request is
  // held (from Hook::Consult): the kernel waits for that request.
  void FinishNotifications();

  // --- stopping at an op ---

  // Asked about every state-changing request; null for none. Costs the path and the caller's name
  // per request, so leave it null when nothing is armed. Must outlive its use.
  void SetHook(Hook* hook);
  // Asked about every request that something could go wrong with; null for none. Must outlive its
  // use.
  void SetFaultHook(FaultHook* hook);
  // While on, every state-changing request is answered EIO, on the root too, and lines of standard
  // output are refused; reading goes on.
  void Quiesce(bool on);
  [[nodiscard]] bool quiesced() const;

  // Whether sync(2) and syncfs(2) are barriers. Every process of the machine can call them:
  // `counts` says, by thread id, whose are meant; null for everybody's. Those of this process never
  // count.
  [[nodiscard]] bool sees_syncs() const;
  void SetSyncFilter(std::function<bool(pid_t)> counts);
  // A sync(2) or syncfs(2) of thread `caller` that the owner has learnt of by itself: pulls what
  // was stored through shared mappings, makes the barrier, and calls `answer` with 0 or an errno,
  // once. Not to be called from a Hook.
  void Sync(pid_t caller, const std::function<void(int)>& answer);

  // --- special files ---

  // What was written to .tornfs-stdout since the last call, unfinished last line included.
  [[nodiscard]] std::string TakeStdout();
  // The content of .tornfs-promises from the next BeginEpoch or opening on; clears
  // promises_were_read.
  void SetPromises(std::string text);
  // Whether the promises file was found, looked at or opened since SetPromises.
  [[nodiscard]] bool promises_were_read() const;

  // --- questions ---

  // Where every question is written down that a program puts to the tree or to the promises, before
  // it is answered; null for nowhere. Needs an engine that records, and must outlive its use. To
  // see exactly what a program asks, mount without readdirplus and with max_readahead 0.
  void SetQuestionLog(QuestionLog* log);

  // --- what has to wait for this mount ---

  // Runs `work` on the helper thread while the loop is pumped; returns when it has returned. For
  // every call that touches the mount: opening files on it, exporting, spawning with vfork.
  void RunElsewhere(const std::function<void()>& work);
  // Makes the kernel send what was stored through shared mappings: they become write-back ops.
  // Works while a request is held, except a write(2) to a page that is not up to date.
  // Errors: kIo.
  [[nodiscard]] Status PullPages();
  // Joins the helper thread; call before fork(). It starts again when needed.
  void StopThreads();

  struct Counters {
    std::uint64_t requests = 0;
    std::uint64_t dead_requests = 0;    // Refused: of an earlier epoch.
    std::uint64_t refused_changes = 0;  // Refused: quiesced, or by the hook.
    std::uint64_t joined_parts = 0;     // WRITEs that were the rest of an earlier one.
    std::uint64_t syncs_seen = 0;       // SYNCFS: only fuseblk mounts get them.
  };
  [[nodiscard]] Counters counters() const;

 private:
  class Impl;
  Server(Engine& engine, EventLoop& loop, std::unique_ptr<Impl> impl);

  Engine& engine_;
  EventLoop& loop_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tornfs
