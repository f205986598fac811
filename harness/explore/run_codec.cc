#include "harness/explore/run_codec.h"

#include <span>

#include "fusefs/core/trace_bytes.h"

namespace tornfs::harness {
namespace {

using trace::ByteReader;
using trace::ByteWriter;

void Put(ByteWriter& out, std::string_view text) {
  out.Varint(text.size());
  out.Raw(text);
}
std::string TakeText(ByteReader& in) { return std::string(in.Raw(in.Count())); }

void Put(ByteWriter& out, const Digest& digest) {
  out.Varint(digest.low);
  out.Varint(digest.high);
}
Digest TakeDigest(ByteReader& in) {
  Digest digest;
  digest.low = in.Varint();
  digest.high = in.Varint();
  return digest;
}

template <class Number>
Number Take(ByteReader& in) {
  return static_cast<Number>(in.Varint());
}

void PutOp(ByteWriter& out, const Op& op, std::size_t pending) {
  out.Varint(op.number);
  out.Varint(static_cast<std::uint64_t>(op.kind));
  out.Varint(op.ino);
  out.Varint(op.offset);
  out.Varint(op.length);
  out.Varint(op.first_effect - pending);
  out.Varint(op.effects);
  Put(out, op.path);
  Put(out, op.to);
  out.Signed(op.time);
}

Op TakeOp(ByteReader& in) {
  Op op;
  op.number = Take<OpNumber>(in);
  op.kind = static_cast<OpKind>(in.Varint(kOpKinds - 1));
  op.ino = in.Varint();
  op.offset = in.Varint();
  op.length = in.Varint();
  op.first_effect = Take<std::uint32_t>(in);
  op.effects = Take<std::uint32_t>(in);
  op.path = TakeText(in);
  op.to = TakeText(in);
  op.time = in.Signed();
  return op;
}

void PutEffect(ByteWriter& out, const Effect& effect, const ContentStore& store) {
  out.Varint(effect.op);
  out.Varint(static_cast<std::uint64_t>(effect.kind));
  out.Varint(static_cast<std::uint64_t>(effect.group));
  out.Varint(effect.ino);
  out.Varint(effect.offset);
  out.Varint(effect.length);
  out.Varint(effect.value);
  out.Varint(effect.child);
  out.Signed(effect.time);
  out.Byte(effect.name ? 1 : 0);
  if (effect.name) Put(out, *effect.name);
  const bool stored = effect.kind == CellKind::kData && effect.content != kZeros;
  out.Byte(stored ? 1 : 0);
  if (stored) {
    out.Raw({reinterpret_cast<const char*>(store.At(effect.content)), effect.length});
  }
}

Effect TakeEffect(ByteReader& in, ContentStore& store) {
  Effect effect;
  effect.op = Take<OpNumber>(in);
  effect.kind = Take<CellKind>(in);
  effect.group = Take<GroupTag>(in);
  effect.ino = in.Varint();
  effect.offset = in.Varint();
  effect.length = in.Varint();
  effect.value = in.Varint();
  effect.child = in.Varint();
  effect.time = in.Signed();
  if (in.Byte() != 0) effect.name = std::make_shared<const std::string>(TakeText(in));
  if (in.Byte() == 0) return effect;
  const std::string_view bytes = in.Raw(effect.length);
  if (!in.ok()) return effect;
  const auto position = store.Append(std::as_bytes(std::span(bytes.data(), bytes.size())));
  in.Require(position.has_value(), "no room");
  if (position) effect.content = *position;
  return effect;
}

void PutBirth(ByteWriter& out, const Recording::Birth& birth) {
  const Inode& inode = birth.initial;
  out.Varint(birth.op);
  out.Varint(birth.ino);
  out.Varint(inode.mode);
  out.Varint(inode.uid);
  out.Varint(inode.gid);
  out.Varint(inode.device);
  out.Varint(inode.parent);
  out.Varint(inode.flags);
  out.Signed(inode.mtime);
  Put(out, inode.target);
  std::uint64_t xattrs = 0;
  for (auto xattr = inode.xattrs.Begin(); xattr.valid(); xattr.Next()) ++xattrs;
  out.Varint(xattrs);
  for (auto xattr = inode.xattrs.Begin(); xattr.valid(); xattr.Next()) {
    Put(out, xattr.key());
    Put(out, *xattr.value());
  }
}

Recording::Birth TakeBirth(ByteReader& in) {
  Recording::Birth birth{};
  Inode& inode = birth.initial;
  birth.op = Take<OpNumber>(in);
  birth.ino = in.Varint();
  inode.mode = Take<mode_t>(in);
  inode.uid = Take<uid_t>(in);
  inode.gid = Take<gid_t>(in);
  inode.device = in.Varint();
  inode.parent = in.Varint();
  inode.flags = Take<std::uint32_t>(in);
  inode.atime = inode.mtime = inode.ctime = inode.btime = in.Signed();
  inode.target = TakeText(in);
  for (std::uint64_t left = in.Count(); left > 0 && in.ok(); --left) {
    std::string name = TakeText(in);
    inode.xattrs.Set(std::move(name), std::make_shared<const std::string>(TakeText(in)));
  }
  return birth;
}

void PutAsked(ByteWriter& out, const Asked& asked) {
  out.Varint(static_cast<std::uint64_t>(asked.question.kind));
  out.Varint(asked.question.ino);
  out.Varint(asked.question.at);
  Put(out, asked.question.name);
  Put(out, asked.answer);
  out.Varint(asked.ops);
  out.Varint(asked.effects);
  out.Varint(asked.births);
}

Asked TakeAsked(ByteReader& in) {
  Asked asked;
  asked.question.kind = Take<Question::Kind>(in);
  asked.question.ino = in.Varint();
  asked.question.at = in.Varint();
  asked.question.name = TakeText(in);
  asked.answer = TakeDigest(in);
  asked.ops = Take<std::uint32_t>(in);
  asked.effects = Take<std::uint32_t>(in);
  asked.births = Take<std::uint32_t>(in);
  return asked;
}

void PutVerdict(ByteWriter& out, const Verdict& verdict) {
  out.Byte(static_cast<std::uint8_t>(verdict.judgement));
  Put(out, verdict.phase);
  out.Signed(verdict.status);
  Put(out, verdict.title);
}

Verdict TakeVerdict(ByteReader& in) {
  Verdict verdict;
  verdict.judgement = static_cast<Judgement>(in.Byte());
  verdict.phase = TakeText(in);
  verdict.status = static_cast<int>(in.Signed());
  verdict.title = TakeText(in);
  return verdict;
}

template <class Item, class TakeOne>
void TakeAll(ByteReader& in, std::vector<Item>& items, TakeOne&& take) {
  for (std::uint64_t left = in.Count(); left > 0 && in.ok(); --left) items.push_back(take(in));
}

}  // namespace

std::string EncodeRun(const ProgramRun& run, const ContentStore& store) {
  ByteWriter out;
  const Recording& recording = *run.recording;
  const std::size_t pending = recording.start.pending.size();
  out.Varint(recording.start.next_op);
  out.Varint(recording.start.next_ino);
  out.Varint(recording.next_ino);
  out.Varint(recording.ops.size());
  for (const Op& op : recording.ops) PutOp(out, op, pending);
  out.Varint(recording.effects.size() - pending);
  for (std::size_t i = pending; i < recording.effects.size(); ++i) {
    PutEffect(out, recording.effects[i], store);
  }
  out.Varint(recording.births.size());
  for (const auto& birth : recording.births) PutBirth(out, birth);
  out.Varint(recording.promises.size());
  for (const Promise& promise : recording.promises) {
    out.Varint(promise.cut);
    Put(out, promise.line);
  }
  out.Varint(run.asked.size());
  for (const Asked& asked : run.asked) PutAsked(out, asked);
  out.Varint(run.did.size());
  for (const Digest& did : run.did) Put(out, did);
  PutVerdict(out, run.verdict);
  Put(out, run.promised);
  out.Varint(run.callers);
  return out.bytes();
}

std::shared_ptr<ProgramRun> DecodeRun(std::string_view bytes, ContentStore& store) {
  ByteReader in(bytes);
  auto recording = std::make_shared<Recording>();
  recording->start.next_op = Take<OpNumber>(in);
  recording->start.next_ino = in.Varint();
  recording->next_ino = in.Varint();
  TakeAll(in, recording->ops, TakeOp);
  TakeAll(in, recording->effects, [&](ByteReader& from) { return TakeEffect(from, store); });
  TakeAll(in, recording->births, TakeBirth);
  TakeAll(in, recording->promises, [](ByteReader& from) {
    const auto cut = Take<OpNumber>(from);
    return Promise{cut, TakeText(from)};
  });
  auto run = std::make_shared<ProgramRun>();
  TakeAll(in, run->asked, TakeAsked);
  TakeAll(in, run->did, TakeDigest);
  run->verdict = TakeVerdict(in);
  run->promised = TakeText(in);
  run->callers = Take<std::size_t>(in);
  run->recording = std::move(recording);
  const bool whole = in.ok() && in.left() == 0 && run->did.size() == run->asked.size() + 1;
  return whole ? run : nullptr;
}

}  // namespace tornfs::harness
