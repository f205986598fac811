// Engine: carrying out a recorded history again.
#include <unordered_map>

#include "fusefs/core/engine.h"

namespace tornfs {

void Engine::Replay(const Recording& recorded) {
  Load(recorded.start, true);
  // Handles are not recorded: an inode without a name is kept until the last op that acts on it.
  std::unordered_map<Ino, OpNumber> last_use;
  for (const Effect& effect : recorded.effects) last_use[effect.ino] = effect.op;
  for (const auto& [ino, op] : last_use) Pin(ino);
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
    if (IsBarrier(op.kind)) CarryOut(op.kind, op.ino, op.number);
    for (std::uint32_t i = 0; i < op.effects; ++i) {
      const Ino ino = recorded.effects[op.first_effect + i].ino;
      if (last_use.at(ino) == op.number) Unpin(ino);
    }
  }
  recording_->promises = recorded.promises;
}

}  // namespace tornfs
