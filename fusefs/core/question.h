// Questions that programs put to a tree, and the answers, as values.
//
// A program that is a function of what it is told does the same in two worlds that answer alike.
// So its run is written down as the questions it asked, each with the answer it got and with what
// it had done by then: a QuestionLog. Only the first time that a question is asked counts: later
// answers follow from the first and from what the program did itself, and whether they are asked
// again depends on what the kernel still remembers.
//
// Answers are digests. They leave out times and allocated blocks, which worlds after a crash freeze
// (frozen_times.h), and ops and inode numbers count only where a program can see them.
//
// Threads: none.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "common/hash.h"
#include "fusefs/core/content_store.h"
#include "fusefs/core/tree.h"

namespace tornfs {

class Engine;

struct Question {
  enum class Kind : std::uint8_t {
    kName,        // What does `name` in directory `ino` lead to?
    kLookup,      // The same, with the attributes of what it leads to.
    kAttributes,  // Everything that stat(2) tells of `ino`.
    kOwner,       // Mode, owner, group and flags of `ino`.
    kSize,        // Size of `ino`.
    kPage,        // Bytes of page number `at` of `ino`, as far as the size goes.
    kXattrs,      // All extended attributes of `ino`.
    kTarget,      // Of the symbolic link `ino`.
    kNames,       // Every entry of directory `ino`.
    kNextData,    // SEEK_DATA from `at` in `ino`.
    kNextHole,    // SEEK_HOLE from `at` in `ino`.
    kNextIno,     // Which number does the next new inode get?
    kPromises,    // The text of the promises file.
  };
  Kind kind = Kind::kName;
  Ino ino = kNoIno;
  std::uint64_t at = 0;
  std::string name;

  friend bool operator==(const Question&, const Question&) = default;
  // Equal for equal questions, and only for them.
  [[nodiscard]] Digest Key() const;
  // "page 3 of inode 17", for messages.
  [[nodiscard]] std::string Describe() const;
};

// What of a world is not in its tree.
struct WorldFacts {
  Ino next_ino = kNoIno;
  Digest promises;  // Of the text.
};

// Requires that the inode of the question is in `tree`, as it is for every question that a program
// could ask in it.
[[nodiscard]] Digest AnswerTo(const Question& question, const Tree& tree, const ContentStore& store,
                              const WorldFacts& facts);

// A question at its place: how much the program had done before it was asked. Effects that were
// pending when it started do not count.
struct Asked {
  Question question;
  Digest answer;
  std::uint32_t ops = 0;
  std::uint32_t effects = 0;
  std::uint32_t births = 0;
};

class QuestionLog {
 public:
  explicit QuestionLog(WorldFacts facts) : facts_(facts) {}

  // `question` is about to be answered, or `tid`'s change that depends on its answer about to be
  // made. Requires that the engine records.
  void Ask(const Engine& engine, Question question, pid_t tid);

  [[nodiscard]] const std::vector<Asked>& asked() const { return asked_; }
  // Threads that asked: with more than one, the order in which they did is one of several.
  [[nodiscard]] std::size_t callers() const { return callers_.size(); }

 private:
  WorldFacts facts_;
  std::vector<Asked> asked_;
  [[nodiscard]] bool IsKnown(const Engine& engine, const Question& question);
  // Everything that stat(2) tells of `ino` has been told.
  void KnowAttributes(Ino ino);

  std::unordered_set<Digest> seen_;
  std::set<pid_t> callers_;
};

}  // namespace tornfs
