// The writer's side of group commit: one thread, one group or mutation at a time.
#include <algorithm>

#include "journal/group_commit.h"

namespace tornfs::journal {

void GroupCommit::Loop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    work_.wait(lock, [this] { return ending_ || !queue_.empty(); });
    if (queue_.empty()) return;
    if (queue_.front().mutation) {
      Mutate(lock);
    } else {
      WriteGroup(lock);
    }
    progress_.notify_all();
    ReclaimNowAndThen(lock);
  }
}

// Moves appends from the front of the queue into the group, as long as they fit.
void GroupCommit::TakeAppends(Group& group) {
  while (!queue_.empty() && !queue_.front().mutation && group.Fits(queue_.front())) {
    group.record_bytes += queue_.front().record_bytes;
    group.body_bytes += queue_.front().body_bytes;
    group.items.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
}

// Waiting pays only if another append can be expected within the wait.
bool GroupCommit::WorthWaiting(const Group& group) const {
  return group_options_.delay.count() > 0 && !group.Full() && queue_.empty() && !ending_ &&
         last_gap_ <= group_options_.delay;
}

void GroupCommit::WriteGroup(std::unique_lock<std::mutex>& lock) {
  Group group;
  TakeAppends(group);
  if (WorthWaiting(group)) {
    ++metrics_.delay_waits;
    const auto until = Clock::now() + group_options_.delay;
    work_.wait_until(lock, until, [&] {
      TakeAppends(group);
      return ending_ || group.Full() || !queue_.empty();
    });
  }
  lock.unlock();
  const std::vector<PrepareView> prepares = [&group] {
    std::vector<PrepareView> views;
    for (const Item& item : group.items) views.emplace_back(item.prepare);
    return views;
  }();
  Status done = journal_->AppendBatch(prepares);
  if (done) done = journal_->Sync();
  lock.lock();
  if (!done) return Latch(done.error());
  for (const Item& item : group.items) pending_bytes_ -= item.retained_bytes;
  ++metrics_.completed_batches;
  metrics_.batched_prepares += group.items.size();
  metrics_.batched_bytes += group.record_bytes;
  PublishProgress();
}

// A request refused before the first write fails alone; anything else may have left half a change.
void GroupCommit::Mutate(std::unique_lock<std::mutex>& lock) {
  const Item item = std::move(queue_.front());
  queue_.pop_front();
  lock.unlock();
  const Status done = item.mutation(*journal_);
  lock.lock();
  --pending_mutations_;
  pauses_ -= item.admission == Admission::kPaused ? 1 : 0;
  truncations_ -= item.truncates ? 1 : 0;
  *item.done = done;
  if (journal_->poisoned() || (!done && item.truncates)) {
    return Latch(done ? Error{ErrorKind::kPoisoned, 0, "the journal is poisoned"} : done.error());
  }
  if (item.admission == Admission::kPaused) TakeOver();
  PublishProgress();
}

// After the completion was published, never before: nobody waits for a deletion.
void GroupCommit::ReclaimNowAndThen(std::unique_lock<std::mutex>& lock) {
  ++since_reclaim_;
  if (failure_ || (!queue_.empty() && since_reclaim_ < kReclaimInterval)) return;
  since_reclaim_ = 0;
  if (journal_->obsolete_files() == 0) return;
  lock.unlock();
  journal_->Reclaim();
  lock.lock();
}

void GroupCommit::PublishProgress() {
  const State& state = journal_->state();
  while (checkpoint_ < state.checkpoint && !accepted_ops_.empty()) {
    base_offset_ = accepted_ops_.front().next_offset;
    accepted_ops_.pop_front();
    ++checkpoint_;
  }
  checkpoint_checksum_ = state.checkpoint_checksum;
  accepted_.certified_log_view = state.certified_log_view;
  retained_bytes_ = journal_->retained_bytes();
  const std::uint64_t durable = journal_->durable_head();
  durable_head_ = truncations_ == 0 ? durable : std::min(durable, truncated_head_);
}

void GroupCommit::TakeOver() {
  accepted_ = journal_->state();
  accepted_ops_.clear();
  checkpoint_ = accepted_.checkpoint;
  checkpoint_checksum_ = accepted_.checkpoint_checksum;
  base_offset_ = accepted_.segments ? accepted_.segments->checkpoint.next_offset : 0;
  std::uint64_t offset = base_offset_;
  std::uint64_t op = journal_->first_op();
  for (const Entry& entry : journal_->entries()) {
    const bool purged = accepted_.segments && op <= accepted_.purge_floor;
    if (entry.HasMessages() && !purged) offset = entry.next_offset;
    if (op++ == checkpoint_) {
      base_offset_ = offset;
      continue;
    }
    accepted_ops_.push_back({entry.checksum, offset});
  }
}

// Nothing queued can follow what failed, so all of it fails.
void GroupCommit::Latch(const Error& error) {
  failure_ = error;
  for (Item& item : queue_) {
    if (item.done) *item.done = tl::make_unexpected(error);
  }
  queue_.clear();
  pending_bytes_ = 0;
}

}  // namespace tornfs::journal
