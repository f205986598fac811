#include "fusefs/core/question.h"

#include <algorithm>
#include <array>
#include <utility>

#include "common/check.h"
#include "fusefs/core/engine.h"

namespace tornfs {
namespace {

using Kind = Question::Kind;

Digest Words(std::initializer_list<std::uint64_t> words) {
  return Hash128(std::as_bytes(std::span(words.begin(), words.size())));
}

Digest Owner(const Inode& inode) { return Words({inode.mode, inode.uid, inode.gid, inode.flags}); }

Digest Attributes(const Inode& inode) {
  const bool directory = inode.IsDirectory();
  const std::uint64_t size = S_ISLNK(inode.mode) ? inode.target.size() : inode.size;
  return Mix(Owner(inode), Words({directory ? 0 : size, inode.VisibleLinks(), inode.device,
                                  directory ? inode.parent : kNoIno}));
}

Digest Page(const Inode& inode, std::uint64_t page, const ContentStore& store) {
  const std::uint64_t begin = page * kPageBytes;
  if (begin >= inode.size) return {};
  std::array<std::byte, kPageBytes> bytes{};
  const auto span = std::span(bytes).first(std::min(kPageBytes, inode.size - begin));
  inode.content.Read(store, begin, span);
  return Hash128(span);
}

Digest Xattrs(const Inode& inode) {
  Digest xattrs;
  for (auto xattr = inode.xattrs.Begin(); xattr.valid(); xattr.Next()) {
    xattrs += Mix(Hash128(xattr.key()), Hash128(*xattr.value()));
  }
  return xattrs;
}

Digest Names(const Inode& dir) {
  Digest names = Words({dir.parent});
  for (auto entry = dir.entries.Begin(); entry.valid(); entry.Next()) {
    const Digest target = Words({entry.value().ino, entry.value().type});
    names += Mix(Hash128(entry.key().name), target);
  }
  return names;
}

}  // namespace

Digest Question::Key() const {
  return Mix(Words({static_cast<std::uint64_t>(kind), ino, at}), Hash128(name));
}

std::string Question::Describe() const {
  const std::string inode = " of inode " + std::to_string(ino);
  switch (kind) {
    case Kind::kName:
    case Kind::kLookup: return "name '" + name + "' in directory " + std::to_string(ino);
    case Kind::kAttributes: return "attributes" + inode;
    case Kind::kOwner: return "mode and owner" + inode;
    case Kind::kSize: return "size" + inode;
    case Kind::kPage: return "page " + std::to_string(at) + inode;
    case Kind::kXattrs: return "extended attributes" + inode;
    case Kind::kTarget: return "target" + inode;
    case Kind::kNames: return "entries of directory " + std::to_string(ino);
    case Kind::kNextData: return "next data from " + std::to_string(at) + inode;
    case Kind::kNextHole: return "next hole from " + std::to_string(at) + inode;
    case Kind::kNextIno: return "the next inode number";
    case Kind::kPromises: return "the promises";
  }
  return "";
}

Digest AnswerTo(const Question& question, const Tree& tree, const ContentStore& store,
                const WorldFacts& facts) {
  if (question.kind == Kind::kNextIno) return Words({facts.next_ino});
  if (question.kind == Kind::kPromises) return facts.promises;
  if (question.kind == Kind::kName || question.kind == Kind::kLookup) {
    const Entry* entry = tree.FindEntry(question.ino, question.name);
    if (entry == nullptr) return {};
    const Digest leads_to = Words({entry->ino});
    if (question.kind == Kind::kName) return leads_to;
    return Mix(leads_to, Attributes(*tree.Find(entry->ino)));
  }
  const Inode* inode = tree.Find(question.ino);
  CHECK(inode != nullptr);
  switch (question.kind) {
    case Kind::kAttributes: return Attributes(*inode);
    case Kind::kOwner: return Owner(*inode);
    case Kind::kSize: return Words({inode->size});
    case Kind::kPage: return Page(*inode, question.at, store);
    case Kind::kXattrs: return Xattrs(*inode);
    case Kind::kTarget: return Hash128(inode->target);
    case Kind::kNames: return Names(*inode);
    case Kind::kNextData:
      return Words({std::min(inode->content.NextData(question.at), inode->size)});
    default: return Words({std::min(inode->content.NextHole(question.at), inode->size)});
  }
}

bool QuestionLog::IsKnown(const Engine& engine, const Question& question) {
  // What the program made itself is as it made it.
  if (question.ino != kNoIno && question.ino >= facts_.next_ino) return true;
  Digest key = question.Key();
  // An earlier search may have stopped at what the program has changed since.
  if (question.kind == Kind::kNextData || question.kind == Kind::kNextHole) {
    key = Mix(key, engine.recording()->ops.size());
  }
  return !seen_.insert(key).second;
}

void QuestionLog::KnowAttributes(Ino ino) {
  for (const Kind kind : {Kind::kAttributes, Kind::kOwner, Kind::kSize}) {
    seen_.insert(Question{kind, ino, 0, {}}.Key());
  }
}

void QuestionLog::Ask(const Engine& engine, Question question, pid_t tid) {
  if (tid != 0) callers_.insert(tid);
  if (question.ino != kNoIno && engine.current().Find(question.ino) == nullptr) return;
  if (IsKnown(engine, question)) return;
  if (question.kind == Kind::kAttributes) KnowAttributes(question.ino);
  if (question.kind == Kind::kLookup) {
    seen_.insert(Question{Kind::kName, question.ino, 0, question.name}.Key());
    const Entry* entry = engine.current().FindEntry(question.ino, question.name);
    if (entry != nullptr) KnowAttributes(entry->ino);
  }
  const Recording& recording = *engine.recording();
  const Digest answer = AnswerTo(question, engine.current(), engine.store(), facts_);
  const std::size_t effects = recording.effects.size() - recording.start.pending.size();
  asked_.push_back({std::move(question), answer, static_cast<std::uint32_t>(recording.ops.size()),
                    static_cast<std::uint32_t>(effects),
                    static_cast<std::uint32_t>(recording.births.size())});
}

}  // namespace tornfs
