#include "fusefs/fuse/node_table.h"

#include <fcntl.h>

#include <algorithm>

namespace tornfs {

void NodeTable::Remember(Ino ino, std::uint64_t count) {
  if (ino == kRootIno) return;
  const auto [held, fresh] = held_.try_emplace(ino);
  held->second.lookups += count;
  if (fresh && !IsSpecial(ino)) engine_.Pin(ino);
}

void NodeTable::Forget(Ino ino, std::uint64_t count) {
  const auto held = held_.find(ino);
  if (held == held_.end()) return;
  held->second.lookups -= std::min(held->second.lookups, count);
  Release(held);
}

void NodeTable::Open(Ino ino, int flags) {
  if (ino == kRootIno) return;
  const auto [held, fresh] = held_.try_emplace(ino);
  ++held->second.handles;
  if ((flags & O_ACCMODE) == O_RDWR) ++held->second.read_write;
  if (fresh && !IsSpecial(ino)) engine_.Pin(ino);
}

bool NodeTable::MayBeMapped(Ino ino) const {
  const auto held = held_.find(ino);
  return held != held_.end() && held->second.read_write > 0;
}

void NodeTable::Close(Ino ino, int flags) {
  const auto held = held_.find(ino);
  if (held == held_.end()) return;
  held->second.handles -= std::min<std::uint64_t>(held->second.handles, 1);
  if ((flags & O_ACCMODE) == O_RDWR) {
    held->second.read_write -= std::min<std::uint64_t>(held->second.read_write, 1);
  }
  Release(held);
}

void NodeTable::Release(std::unordered_map<Ino, Held>::iterator held) {
  if (held->second.lookups > 0 || held->second.handles > 0) return;
  const Ino ino = held->first;
  held_.erase(held);
  if (!IsSpecial(ino)) engine_.Unpin(ino);
}

std::vector<NodeTable::Dead> NodeTable::BeginEpoch() {
  std::vector<Dead> dead;
  dead.reserve(held_.size());
  for (const auto& [ino, held] : held_) dead.push_back({NodeOf(ino), held.handles > 0});
  held_.clear();
  ++epoch_;
  return dead;
}

}  // namespace tornfs
