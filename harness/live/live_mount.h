// LiveMount: a mounted engine with the storage behind it, as `mount` and `run` use it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "common/result.h"
#include "fusefs/core/content_store.h"
#include "fusefs/core/engine.h"
#include "fusefs/fuse/event_loop.h"
#include "fusefs/fuse/server.h"

namespace tornfs::harness {

struct LiveMountOptions {
  std::string mount_point;  // Absolute.
  std::string import;       // A directory to start from; empty: an empty tree.
  std::string store;        // Where contents go when memory is short; empty: nowhere.
  std::uint64_t memory_limit = UINT64_MAX;
  const Model* model = nullptr;
  bool allow_other = false;
  uid_t owner = 0;  // Of the root of an empty tree.
  gid_t group = 0;
};

class LiveMount {
 public:
  // `loop` must outlive the mount.
  // Errors: those of ContentStore::Open, ImportDirectory and Server::Mount.
  [[nodiscard]] static Result<std::unique_ptr<LiveMount>> Mount(EventLoop& loop,
                                                                const LiveMountOptions& options);

  [[nodiscard]] Server& server() { return *server_; }
  [[nodiscard]] Engine& engine() { return *engine_; }
  [[nodiscard]] ContentStore& store() { return *store_; }

  // Pulls what was stored through shared mappings and makes everything durable. Errors: kIo.
  [[nodiscard]] Status SettleAll();
  // Begins the history anew from what is there now, all of it durable: the next op is number 1.
  void RestartHistory();
  // Writes the tree as programs see it to `directory`. Errors: those of ExportTree.
  [[nodiscard]] Status Export(const std::string& directory);

 private:
  LiveMount() = default;

  std::unique_ptr<ContentStore> store_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Server> server_;
};

}  // namespace tornfs::harness
