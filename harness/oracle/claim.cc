#include "harness/oracle/claim.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

namespace tornfs::harness {
namespace {

constexpr std::array<std::string_view, 6> kRules{"renamed-unsynced", "rewritten-in-place",
                                                 "removed-unsynced", "promised-unsynced",
                                                 "promised-unnamed", "synced-unnamed"};

class Judgement {
 public:
  Judgement(const Tree& tree, const ContentStore& store, const BeforeQuestion& before_question)
      : tree_(tree), store_(store), before_question_(before_question) {}

  Held Holds(const Accepted& way) {
    const auto ino = Find(way.path);
    if (!ino) return Held::kStopped;
    std::vector<const Accepted::Content*> left;
    for (const auto& content : way.contents) {
      if ((content.file == nullptr) == (*ino == kNoIno)) left.push_back(&content);
    }
    if (*ino == kNoIno || left.empty()) return left.empty() ? Held::kNo : Held::kYes;
    if (!tree_.Find(*ino)->IsRegular()) return Held::kNo;
    if (!before_question_({Question::Kind::kSize, *ino, 0, {}})) return Held::kStopped;
    const std::uint64_t size = tree_.Find(*ino)->size;
    std::erase_if(left, [&](const Accepted::Content* content) {
      return content->begins ? size < content->file->size : size != content->file->size;
    });
    for (std::uint64_t at = 0; at < size && !left.empty(); at += kPageBytes) {
      const bool enough = std::ranges::any_of(
          left, [&](const auto* content) { return content->begins && content->file->size <= at; });
      if (enough) break;
      if (!before_question_({Question::Kind::kPage, *ino, at / kPageBytes, {}})) {
        return Held::kStopped;
      }
      std::erase_if(left, [&](const Accepted::Content* content) {
        return !SamePage(*tree_.Find(*ino), *content->file, at);
      });
    }
    return left.empty() ? Held::kNo : Held::kYes;
  }

 private:
  // What `path` leads to, or kNoIno; empty if the judgement stopped.
  std::optional<Ino> Find(const std::string& path) {
    Ino at = kRootIno;
    for (std::size_t begin = 0; begin <= path.size();) {
      const std::size_t end = std::min(path.find('/', begin), path.size());
      const std::string name = path.substr(begin, end - begin);
      begin = end + 1;
      if (!before_question_({Question::Kind::kName, at, 0, name})) return std::nullopt;
      const Entry* entry = tree_.FindEntry(at, name);
      if (entry == nullptr) return kNoIno;
      at = entry->ino;
      if (begin <= path.size() && !tree_.Find(at)->IsDirectory()) return kNoIno;
    }
    return at;
  }

  [[nodiscard]] bool SamePage(const Inode& found, const Inode& wanted, std::uint64_t at) const {
    std::array<std::byte, kPageBytes> a;
    std::array<std::byte, kPageBytes> b;
    const std::uint64_t length =
        std::min({kPageBytes, found.size - at, wanted.size > at ? wanted.size - at : 0});
    found.content.Read(store_, at, std::span(a).first(length));
    wanted.content.Read(store_, at, std::span(b).first(length));
    return std::memcmp(a.data(), b.data(), length) == 0;
  }

  const Tree& tree_;
  const ContentStore& store_;
  const BeforeQuestion& before_question_;
};

const Inode* FindFile(const Tree& tree, const std::string& path) {
  Ino at = kRootIno;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const Entry* entry = tree.FindEntry(at, path.substr(begin, end - begin));
    if (entry == nullptr) return nullptr;
    at = entry->ino;
    begin = end + 1;
  }
  return tree.Find(at);
}

}  // namespace

std::string_view LintRuleName(LintRule rule) { return kRules[static_cast<std::size_t>(rule)]; }

Held Judge(const Claim& claim, const Tree& tree, const ContentStore& store,
           const BeforeQuestion& before_question) {
  Judgement judgement(tree, store, before_question);
  for (const Accepted& way : claim.ways) {
    const Held held = judgement.Holds(way);
    if (held != Held::kNo) return held;
  }
  return Held::kNo;
}

std::string Damage(const Claim& claim, const Tree& tree) {
  const std::string& path = claim.ways.front().path;
  const Inode* found = FindFile(tree, path);
  std::string what = " does not hold what it should";
  if (found == nullptr) {
    what = " is missing";
  } else if (found->IsRegular() && found->size == 0) {
    what = " is empty";
  }
  return std::string(LintRuleName(claim.rule)) + ": " + path + what + ", " + claim.demand;
}

}  // namespace tornfs::harness
