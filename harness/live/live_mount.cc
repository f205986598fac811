#include "harness/live/live_mount.h"

#include <ctime>
#include <utility>

#include "fusefs/core/host_tree.h"
#include "harness/live/held_stderr.h"

namespace tornfs::harness {
namespace {

Nanoseconds Now() {
  timespec now{};
  (void)::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<Nanoseconds>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

Result<Base> FirstBase(ContentStore& store, const LiveMountOptions& options) {
  Base base;
  if (options.import.empty()) {
    base.durable = Tree::Empty(options.owner, options.group, Now());
    return base;
  }
  auto imported = ImportDirectory(store, options.import);
  if (!imported) return tl::make_unexpected(imported.error());
  base.durable = std::move(imported->tree);
  base.next_ino = imported->next_ino;
  return base;
}

}  // namespace

Result<std::unique_ptr<LiveMount>> LiveMount::Mount(EventLoop& loop,
                                                    const LiveMountOptions& options) {
  std::unique_ptr<LiveMount> mount(new LiveMount);
  auto store = ContentStore::Open({options.store, options.memory_limit});
  if (!store) return tl::make_unexpected(store.error());
  mount->store_ = std::move(*store);
  mount->engine_ = std::make_unique<Engine>(*mount->store_, *options.model, Now);
  auto base = FirstBase(*mount->store_, options);
  if (!base) return tl::make_unexpected(base.error());
  mount->engine_->Load(std::move(*base), false);
  mount->engine_->BoundMemory();
  MountOptions mounting;
  mounting.mount_point = options.mount_point;
  mounting.allow_other = options.allow_other;
  HeldStderr held;
  auto server = Server::Mount(*mount->engine_, loop, mounting);
  if (!server) {
    const std::string reason = held.TakeLastLine();
    if (!reason.empty()) server.error().context += ": " + reason;
    return tl::make_unexpected(server.error());
  }
  mount->server_ = std::move(*server);
  return mount;
}

Status LiveMount::SettleAll() {
  if (Status pulled = server_->PullPages(); !pulled) return pulled;
  engine_->SettleAll();
  return {};
}

void LiveMount::RestartHistory() {
  engine_->SettleAll();
  Base base = engine_->Snapshot();
  base.next_op = 1;
  engine_->Load(std::move(base), false);
  server_->BeginEpoch();
  server_->FinishNotifications();
}

Status LiveMount::Export(const std::string& directory) {
  const ContentStore::Hold hold(*store_);
  const Tree tree = engine_->current();
  Status exported;
  // Not here: the directory may lie on the mount.
  server_->RunElsewhere([&] { exported = ExportTree(tree, *store_, directory); });
  return exported;
}

}  // namespace tornfs::harness
