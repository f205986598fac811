// RecordDecoder: effects, and whether the inodes they need are there when they need them.
#include <algorithm>
#include <utility>

#include "fusefs/core/trace_decoder.h"
#include "fusefs/core/trace_format.h"

namespace tornfs::trace {

void RecordDecoder::Effects(ByteReader& in) {
  const std::uint64_t count = in.Count(5);
  in.Require(count >= pending_ && count < UINT32_MAX, "the number of effects is wrong");
  const OpNumber end = recording_.end();
  OpNumber op = 0;
  Nanoseconds time = recording_.start.time;
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    Effect effect;
    effect.op = op = TakeRise(in, op, end - 1);
    in.Require((op < recording_.start.next_op) == (i < pending_), "an effect has no op");
    effect.time = time = TakeTime(in, time);
    TakeEffect(in, effect);
    const std::uint64_t durable = in.Varint(std::uint64_t{end} - op);
    if (!in.ok()) return;
    recording_.effects.push_back(std::move(effect));
    recording_.durable_by.push_back(durable == 0 ? kNever
                                                 : op + static_cast<OpNumber>(durable - 1));
  }
  if (!in.ok()) return;
  recording_.start.pending.assign(
      recording_.effects.begin(),
      recording_.effects.begin() + static_cast<std::ptrdiff_t>(pending_));
  TieEffectsToOps(in);
}

void RecordDecoder::TakeEffect(ByteReader& in, Effect& effect) {
  const unsigned first = in.Byte();
  const unsigned group = first >> kGroupShift;
  const unsigned kind = first & ((1U << kGroupShift) - 1);
  in.Require(group <= static_cast<unsigned>(GroupTag::kAcl) &&
                 kind <= static_cast<unsigned>(CellKind::kFlags),
             "has an unknown kind of effect");
  effect.group = static_cast<GroupTag>(group);
  effect.kind = static_cast<CellKind>(kind);
  effect.ino = in.Varint(recording_.next_ino - 1);
  const auto life = lives_.find(effect.ino);
  in.Require(life != lives_.end(), "an effect acts on an unknown inode");
  if (!in.ok()) return;
  const mode_t type = life->second.type;
  switch (effect.kind) {
    case CellKind::kData:
      in.Require(type == S_IFREG, "an effect does not suit its inode");
      TakeData(in, effect);
      break;
    case CellKind::kSize:
      in.Require(type == S_IFREG, "an effect does not suit its inode");
      effect.value = in.Varint(kMaxFileBytes);
      break;
    case CellKind::kEntry:
      in.Require(type == S_IFDIR, "an effect does not suit its inode");
      effect.name = TakeSharedName(in);
      effect.child = in.Varint(recording_.next_ino - 1);
      break;
    case CellKind::kMode: effect.value = in.Varint(07777); break;
    case CellKind::kXattr: effect.name = std::make_shared<const std::string>(TakeXattr(in)); break;
    case CellKind::kFlags:
    case CellKind::kUid:
    case CellKind::kGid: effect.value = in.Varint(UINT32_MAX); break;
  }
}

void RecordDecoder::TakeData(ByteReader& in, Effect& effect) {
  effect.offset = in.Varint(kMaxFileBytes);
  effect.length = in.Varint(kMaxFileBytes - effect.offset);
  in.Require(effect.length > 0, "an effect is empty");
  const std::uint64_t place = in.Varint();
  if (place > 0) effect.content = TakePlace(in, place - 1, effect.length);
}

// Every op has the effects that bear its number.
void RecordDecoder::TieEffectsToOps(ByteReader& in) {
  std::uint32_t at = static_cast<std::uint32_t>(pending_);
  for (Op& op : recording_.ops) {
    op.first_effect = at;
    while (at < recording_.effects.size() && recording_.effects[at].op == op.number) ++at;
    op.effects = at - op.first_effect;
  }
  in.Require(at == recording_.effects.size(), "an effect has no op");
}

// True if `ino` is in the durable tree of every cut at which `effect` is pending.
bool RecordDecoder::Lives(Ino ino, const Effect& effect, OpNumber durable_by) const {
  const auto life = lives_.find(ino);
  return life != lives_.end() && life->second.born <= effect.op &&
         (life->second.gone == kNever || life->second.gone > durable_by);
}

void RecordDecoder::CheckLives(ByteReader& in) const {
  for (std::size_t i = 0; i < recording_.effects.size(); ++i) {
    const Effect& effect = recording_.effects[i];
    const OpNumber by = recording_.durable_by[i];
    const bool child = effect.child == kNoIno || Lives(effect.child, effect, by);
    in.Require(child && Lives(effect.ino, effect, by), "an effect outlives its inode");
  }
}

}  // namespace tornfs::trace
