// Engine: carrying out a recorded history again.
#include "fusefs/core/engine.h"

namespace tornfs {

void Engine::Replay(const Recording& recorded) {
  Load(recorded.start, true);
  auto birth = recorded.births.begin();
  for (const Op& op : recorded.ops) {
    for (; birth != recorded.births.end() && birth->op == op.number; ++birth) {
      durable_.Add(birth->ino, birth->initial);
      current_.Add(birth->ino, birth->initial);
      recording_->births.push_back(*birth);
      next_ino_ = birth->ino + 1;
    }
    Change change;
    change.op = op;
    change.op.effects = 0;
    for (std::uint32_t i = 0; i < op.effects; ++i) {
      Make(change, recorded.effects[op.first_effect + i]);
    }
    last_time_ = op.time;
    Commit(std::move(change));
    if (IsBarrier(op.kind)) Settle(pending_.TakeDurable(*model_, op.kind, op.ino), op.number);
  }
  recording_->promises = recorded.promises;
}

}  // namespace tornfs
