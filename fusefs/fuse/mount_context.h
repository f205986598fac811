// MountContext: what the handlers of one mount share. It is the userdata of the libfuse session.
//
// Threads: the loop's.
#pragma once

#include <sys/uio.h>

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fusefs/core/engine.h"
#include "fusefs/core/question.h"
#include "fusefs/fuse/fault_hook.h"
#include "fusefs/fuse/node_table.h"
#include "fusefs/fuse/request_extras.h"
#include "fusefs/fuse/server.h"
#include "fusefs/fuse/special_files.h"
#include "fusefs/fuse/write_joiner.h"

namespace tornfs {

struct MountContext {
  MountContext(Engine& engine_in, const MountOptions& options_in)
      : engine(engine_in), options(options_in), nodes(engine_in) {}

  Engine& engine;
  const MountOptions options;
  NodeTable nodes;
  SpecialFiles special;
  WriteJoiner joiner;
  Hook* hook = nullptr;
  FaultHook* faults = nullptr;
  // The request being served is to be put aside, and what is to go wrong with it afterwards.
  std::optional<Fault> postponed;
  // The request being served was put aside before; its fault has been decided on.
  std::optional<Fault> resumed;
  std::function<void(Ino)> drop_pages;  // Makes the kernel read a file anew.
  QuestionLog* questions = nullptr;
  std::function<bool(pid_t)> sync_counts;  // Null: everybody's.
  bool quiesced = false;
  bool hook_refused = false;  // Hook::Refused is due once the request has been answered.
  bool initialized = false;   // INIT was answered.
  // Whether FUSE_NOTIFY_INC_EPOCH works; otherwise the names looked up in the root are kept.
  bool kernel_epochs = false;
  bool sees_syncs = false;
  std::set<std::string> root_names;
  std::uint32_t greeting = 0;    // INIT flags negotiated beside libfuse's.
  bool greeting_is_due = false;  // The next reply is that to INIT.
  RequestExtras request;         // Of the request served last: for the beginning of its handler.
  // Has what was stored through mappings of a node written back, then calls `then` from the loop.
  std::function<void(fuse_ino_t node, std::function<void()> then)> pull_node;
  Server::Counters counters;

  // Memory that replies point into; used between two replies only.
  std::vector<iovec> pieces;
  std::vector<char> buffer;

  // The inode of a second node that a request names. Errors: EIO if it is of an earlier epoch.
  [[nodiscard]] Outcome<Ino> Living(fuse_ino_t node);
  // The kernel may remember that name of `dir` from now on.
  void RememberName(Ino dir, std::string_view name) {
    if (dir == kRootIno && !kernel_epochs) root_names.emplace(name);
  }
  // Notes a question in the log, if there is one. Those about special files are others.
  void Ask(fuse_req_t req, Question question) {
    if (questions != nullptr) AskFor(fuse_req_ctx(req)->pid, std::move(question));
  }
  // The same for a request by process `pid`.
  void AskFor(pid_t pid, Question question) {
    if (questions == nullptr) return;
    if (NodeTable::IsSpecial(question.ino)) {
      if (question.ino != NodeTable::kPromisesIno) return;
      question = {Question::Kind::kPromises, kNoIno, 0, {}};
    }
    questions->Ask(engine, std::move(question), pid);
  }
  // The pages that [offset, offset + length) touches below the size.
  void AskPages(fuse_req_t req, Ino ino, std::uint64_t offset, std::uint64_t length);
  // The attributes of any inode, special ones included.
  [[nodiscard]] Outcome<struct stat> Stat(Ino ino) const;
};

[[nodiscard]] inline Caller CallerOf(fuse_req_t req) {
  const fuse_ctx* context = fuse_req_ctx(req);
  const auto& mount = *static_cast<const MountContext*>(fuse_req_userdata(req));
  return {context->uid, context->gid, context->pid, context->umask, mount.request.clears_set_id};
}

// The same for a change of `ino` that may take its set-id bits. Reads /proc, some 20 us, if the bit
// of the group is set without group execution; otherwise costs nothing.
[[nodiscard]] Caller CallerOn(fuse_req_t req, Ino ino);

// Tells the owner, after a request was answered, if the hook had refused it.
void NotifyRefusal(MountContext& context);

}  // namespace tornfs
