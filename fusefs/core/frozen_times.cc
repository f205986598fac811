#include "fusefs/core/frozen_times.h"

#include <algorithm>

namespace tornfs {

FrozenTimes::FrozenTimes(const Recording& history) {
  history.start.durable.ForEachChange(Tree(), [&](Ino ino, const Inode*, const Inode* inode) {
    times_[ino] = {inode->mtime, inode->ctime};
  });
  for (const Recording::Birth& birth : history.births) {
    times_[birth.ino] = {birth.initial.mtime, birth.initial.ctime};
  }
  for (const Effect& effect : history.effects) {
    const bool contents = effect.kind == CellKind::kData || effect.kind == CellKind::kSize ||
                          effect.kind == CellKind::kEntry;
    Times& times = times_[effect.ino];
    times.changed = std::max(times.changed, effect.time);
    if (contents) times.modified = std::max(times.modified, effect.time);
  }
  end_ = history.ops.empty() ? history.start.time : history.ops.back().time;
}

FrozenTimes::Times FrozenTimes::Of(Ino ino) const {
  const auto found = times_.find(ino);
  return found == times_.end() ? Times{end_, end_} : found->second;
}

}  // namespace tornfs
