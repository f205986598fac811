#include "harness/oracle/file_history.h"

#include <algorithm>

namespace tornfs::harness {
namespace {

bool IsRegular(const Tree& tree, Ino ino) {
  const Inode* inode = tree.Find(ino);
  return inode != nullptr && inode->IsRegular();
}

bool SameContent(const Inode& a, const Inode& b) {
  if (a.size != b.size) return false;
  bool same = true;
  a.content.ForEachChange(b.content,
                          [&](std::uint64_t, const Extent*, const Extent*) { same = false; });
  return same;
}

}  // namespace

FileHistory::FileHistory(std::shared_ptr<const Recording> recording)
    : recording_(std::move(recording)) {
  start_ = recording_->start.durable;
  for (const Effect& effect : recording_->start.pending) Apply(effect, start_);
  now_ = start_;
  Walk();
  DropWhatMoved();
}

void FileHistory::Walk() {
  const Recording& recording = *recording_;
  std::size_t promise = 0;
  auto birth = recording.births.begin();
  for (const Op& op : recording.ops) {
    while (promise < recording.promises.size() && recording.promises[promise].cut <= op.number) {
      Promise(promise++);
    }
    for (; birth != recording.births.end() && birth->op <= op.number; ++birth) {
      now_.Add(birth->ino, birth->initial);
      if (birth->initial.IsRegular()) files_[birth->ino].made_here = true;
    }
    Serve(op);
  }
  while (promise < recording.promises.size()) Promise(promise++);
  RestAll(recording.end());
}

void FileHistory::Serve(const Op& op) {
  std::vector<std::size_t> entries;  // Names that this op changed.
  for (std::uint32_t i = op.first_effect; i < op.first_effect + op.effects; ++i) {
    const Effect& effect = recording_->effects[i];
    if (effect.kind == CellKind::kEntry) {
      if (effect.child != kNoIno && IsRegular(now_, effect.child)) {
        files_[effect.child].effects.push_back(i);
        files_[effect.child].name_effects.push_back(i);
      }
      entries.push_back(TakeEntry(op, effect));
    } else if (effect.kind == CellKind::kData || effect.kind == CellKind::kSize) {
      files_[effect.ino].effects.push_back(i);
      TakeContent(effect);
    }
    Apply(effect, now_);
  }
  for (const std::size_t index : entries) {
    const auto& occupants = names_[index].occupants;
    const Ino before = std::prev(occupants.end(), 2)->ino;
    const Inode* left = before == kNoIno ? nullptr : now_.Find(before);
    const bool nameless = left != nullptr && left->IsRegular() && left->links == 0;
    if (nameless && occupants.back().ino == kNoIno) files_[before].gone_at = op.number;
    // A file that rename(2) or link(2) gives a name is whole, or should be.
    const bool moves = op.kind == OpKind::kRename || op.kind == OpKind::kLink;
    if (moves && occupants.back().ino != kNoIno) Rest(index, op.number);
  }
  if (!IsBarrier(op.kind)) return;
  has_barriers_ = true;
  if (!IsRegular(now_, op.ino)) return;
  syncs_files_ = true;
  files_[op.ino].syncs.push_back(op.number);
  for (const std::size_t name : NamesOf(op.ino)) Rest(name, op.number);
}

std::size_t FileHistory::TakeEntry(const Op& op, const Effect& effect) {
  const std::size_t index = NameAt(effect.ino, *effect.name);
  NameHistory& name = names_[index];
  stirred_.insert(index);
  if (effect.child != kNoIno) {
    const Inode* child = now_.Find(effect.child);
    if (child != nullptr && child->IsDirectory() && op.kind == OpKind::kRename) {
      moved_.insert(effect.child);
    }
    if (child == nullptr || !child->IsRegular()) name.usable = false;
  }
  name.occupants.push_back({op.number, effect.child, op.kind});
  being_written_[index] = op.kind != OpKind::kRename && op.kind != OpKind::kLink;
  if (effect.child != kNoIno && IsRegular(now_, effect.child)) {
    LookAtTheStart(effect.child);
    changed_.insert(effect.child);
    std::vector<std::size_t>& known = files_[effect.child].names;
    if (std::ranges::find(known, index) == known.end()) known.push_back(index);
  }
  return index;
}

void FileHistory::TakeContent(const Effect& effect) {
  LookAtTheStart(effect.ino);
  const Inode* inode = now_.Find(effect.ino);
  if (inode == nullptr) return;
  FileOfHistory& file = files_[effect.ino];
  changed_.insert(effect.ino);
  const bool size = effect.kind == CellKind::kSize;
  const bool emptied = size && effect.value == 0 && inode->size > 0;
  // Data behind the size are what a truncation drops.
  const bool drops = !size && effect.content == kZeros && effect.group == GroupTag::kTruncate;
  file.changes.push_back({effect.op, size ? std::min(effect.value, inode->size) : effect.offset});
  for (const std::size_t index : NamesOf(effect.ino)) {
    stirred_.insert(index);
    if (emptied) {
      names_[index].emptied.push_back(effect.op);
      being_written_[index] = true;
    } else if (!being_written_[index] && !drops) {
      names_[index].updated = true;
    }
  }
}

// A file that was there before the recording and is met for the first time has a name already.
void FileHistory::LookAtTheStart(Ino ino) {
  FileOfHistory& file = files_[ino];
  if (file.made_here || !file.names.empty()) return;
  const Inode* inode = start_.Find(ino);
  if (inode == nullptr || inode->parent == kNoIno) return;
  const Entry* entry = start_.FindEntry(inode->parent, inode->name);
  if (entry == nullptr || entry->ino != ino) return;
  file.names.push_back(NameAt(inode->parent, inode->name));
}

std::size_t FileHistory::NameAt(Ino directory, const std::string& name) {
  const auto [found, is_new] = places_.emplace(Place{directory, name}, names_.size());
  if (!is_new) return found->second;
  NameHistory history;
  const std::string above = now_.PathOf(directory);
  history.path = above.empty() ? name : above + "/" + name;
  const Entry* entry = start_.FindEntry(directory, name);
  const Ino ino = entry == nullptr ? kNoIno : entry->ino;
  history.occupants.push_back({recording_->start.next_op, ino, OpKind::kCreate});
  history.usable = ino == kNoIno || IsRegular(start_, ino);
  std::shared_ptr<const Inode> file;
  if (ino != kNoIno && history.usable) file = std::make_shared<const Inode>(*start_.Find(ino));
  history.at_rest.push_back({recording_->start.next_op, std::move(file)});
  names_.push_back(std::move(history));
  being_written_.push_back(false);
  directories_.push_back(directory);
  if (ino != kNoIno && IsRegular(start_, ino)) {
    std::vector<std::size_t>& known = files_[ino].names;
    if (std::ranges::find(known, found->second) == known.end()) known.push_back(found->second);
  }
  return found->second;
}

std::vector<std::size_t> FileHistory::NamesOf(Ino ino) const {
  std::vector<std::size_t> now;
  const auto file = files_.find(ino);
  if (file == files_.end()) return now;
  for (const std::size_t name : file->second.names) {
    if (names_[name].occupants.back().ino == ino) now.push_back(name);
  }
  return now;
}

void FileHistory::Rest(std::size_t index, OpNumber since) {
  NameHistory& name = names_[index];
  stirred_.erase(index);
  if (!name.usable) return;
  being_written_[index] = false;
  const Ino ino = name.occupants.back().ino;
  const Inode* inode = ino == kNoIno ? nullptr : now_.Find(ino);
  const std::shared_ptr<const Inode>& last = name.at_rest.back().file;
  if (inode == nullptr && last == nullptr) return;
  if (inode != nullptr && last != nullptr && SameContent(*inode, *last)) return;
  name.at_rest.push_back(
      {since, inode == nullptr ? nullptr : std::make_shared<const Inode>(*inode)});
}

void FileHistory::Promise(std::size_t index) {
  const OpNumber cut = recording_->promises[index].cut;
  for (const Ino ino : changed_) {
    const Inode* inode = now_.Find(ino);
    if (inode == nullptr || inode->links == 0) continue;
    promised_.push_back({index, ino, std::make_shared<const Inode>(*inode)});
  }
  changed_.clear();
  RestAll(cut);
}

void FileHistory::RestAll(OpNumber since) {
  const std::set<std::size_t> stirred = stirred_;
  for (const std::size_t name : stirred) Rest(name, since);
}

void FileHistory::DropWhatMoved() {
  for (std::size_t i = 0; i < names_.size(); ++i) {
    for (Ino at = directories_[i]; at != kRootIno && at != kNoIno;) {
      const Inode* directory = now_.Find(at);
      if (directory == nullptr || moved_.contains(at)) {
        names_[i].usable = false;
        break;
      }
      at = directory->parent;
    }
  }
}

bool FileHistory::Unsynced(const FileOfHistory& file, OpNumber cut, bool names_too) const {
  return std::ranges::any_of(file.effects, [&](std::uint32_t index) {
    const Effect& effect = recording_->effects[index];
    if (effect.kind == CellKind::kEntry && !names_too) return false;
    return effect.op < cut && recording_->durable_by[index] >= cut;
  });
}

}  // namespace tornfs::harness
