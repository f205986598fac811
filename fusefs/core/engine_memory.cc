// Engine: keeping memory bounded.
#include <algorithm>

#include "fusefs/core/engine.h"

namespace tornfs {
namespace {

// What a pending effect takes, its place in the indexes included.
constexpr std::uint64_t kEffectBytes = 200;
// What an inode and its name take, about: how often memory is looked at while files are made.
constexpr std::uint64_t kInodeBytes = 1024;

}  // namespace

void Engine::BoundMemory() {
  bounded_ = true;
  const std::uint64_t limit = store_->options().memory_limit;
  if (limit == UINT64_MAX) return;
  constexpr std::uint64_t kLeast = 4096;
  most_pending_ = std::max(kLeast, limit / 4 / kEffectBytes);
}

Outcome<ContentPosition> Engine::Keep(std::span<const std::byte> bytes) {
  const bool may_sweep = bounded_ && !recording_;
  if (may_sweep && store_->sweep_due()) Sweep();
  const auto content = store_->Append(bytes);
  if (content || !may_sweep || !garbage_) return content;
  Sweep();
  return store_->Append(bytes);
}

bool Engine::HasRoom() {
  store_->NoteUse(kInodeBytes);
  if (store_->tight() && bounded_ && !recording_ && garbage_) Sweep();
  return !store_->tight();
}

void Engine::Sweep() {
  garbage_ = false;
  ContentStore::Marks marks;
  const auto mark = [&](std::uint64_t, std::uint64_t length, ContentPosition position) {
    marks.Mark(position, length);
  };
  durable_.ForEachChange(Tree(), [&](Ino, const Inode*, const Inode* now) {
    now->content.ForEach(0, UINT64_MAX, mark);
  });
  current_.ForEachChange(durable_, [&](Ino, const Inode* before, const Inode* now) {
    if (now == nullptr) return;
    now->content.ForEachChange(before == nullptr ? ExtentMap() : before->content,
                               [&](std::uint64_t, const Extent*, const Extent* extent) {
                                 if (extent != nullptr) mark(0, extent->length, extent->position);
                               });
  });
  pending_.ForEach([&](const Effect& effect) { mark(0, effect.length, effect.content); });
  store_->Sweep(marks);
}

// The last op may still be joined by the rest of its write(2); it is never among the oldest half.
void Engine::WriteBackOldest() {
  const auto items = pending_.TakeOldest(pending_.size() / 2);
  written_back_ += items.size();
  Settle(items, next_op_ - 1);
}

}  // namespace tornfs
