// Claim: something that must hold of the tree after a crash, although nobody gave a check.
//
// A claim is a list of ways in which it can hold, each a name and what may be found there. It is
// judged as a program would judge it, by questions: look up a name, ask for the size, read pages,
// and no more of them than decide. So a world in which things are still open can be split by just
// what the claim depends on (fusefs/core/undecided.h).
//
// Pure functions. Threads: none.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fusefs/core/question.h"
#include "fusefs/core/recording.h"

namespace tornfs::harness {

// What the program did that can make the claim fail; docs/oracle.md describes each.
enum class LintRule : std::uint8_t {
  kRenamedUnsynced,   // A file got its name by rename(2) or link(2) before its data was durable.
  kRewrittenInPlace,  // A file was cut to nothing and written again.
  kRemovedUnsynced,   // The old file was removed before the one that replaces it was durable.
  kPromisedUnsynced,  // A line was printed while data written before it was not durable.
  kPromisedUnnamed,   // The same, but only the name was not.
  kSyncedUnnamed,     // A file was synced, and its name never was.
};
// "renamed-unsynced", ...
[[nodiscard]] std::string_view LintRuleName(LintRule rule);

// One way to hold: `path` leads to one of `contents`.
struct Accepted {
  struct Content {
    std::shared_ptr<const Inode> file;  // Null: the name leads nowhere.
    bool begins = false;                // More may follow.
  };
  std::string path;
  std::vector<Content> contents;
};

struct Claim {
  LintRule rule = LintRule::kRenamedUnsynced;
  std::vector<Accepted> ways;  // Any of them; never empty. The first is what messages are about.
  // Where it must hold: at cuts in [from, until] with at least `promises` lines printed.
  OpNumber from = 0;
  OpNumber until = kNever;
  std::size_t promises = 0;
  std::string demand;   // What should be there, behind a comma: "neither its old content nor ...".
  std::string because;  // What the program did, for a person; names ops.

  [[nodiscard]] bool MustHold(OpNumber cut, std::size_t promised) const {
    return from <= cut && cut <= until && promised >= promises;
  }
};

// Told of each question before the tree is asked; may replace the tree by one that answers it.
// False stops the judgement.
using BeforeQuestion = std::function<bool(const Question&)>;

enum class Held : std::uint8_t { kYes, kNo, kStopped };
// `tree` is looked at anew after every question. Cost: the pages read.
[[nodiscard]] Held Judge(const Claim& claim, const Tree& tree, const ContentStore& store,
                         const BeforeQuestion& before_question);

// What is wrong in `tree`, in which `claim` does not hold: "config is empty, neither ...".
[[nodiscard]] std::string Damage(const Claim& claim, const Tree& tree);

}  // namespace tornfs::harness
