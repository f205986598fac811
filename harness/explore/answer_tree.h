// AnswerTree: everything that is known of one program as a function of the answers it gets.
//
// A node is a place in the program's run: between two questions. From the root one follows the
// answers; the same answers lead to the same node, so the program has done the same and asks the
// same next, or has ended. The tree grows by runs. A run that contradicts it (another question,
// other changes, another end after the same answers) shows that the program is no such function.
//
// Threads: none.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "fusefs/core/question.h"
#include "fusefs/core/recording.h"
#include "harness/explore/verdict.h"

namespace tornfs::harness {

// One run, from start to end.
struct ProgramRun {
  std::shared_ptr<const Recording> recording;
  std::vector<Asked> asked;
  // A digest of what was changed and promised before each question, and before the end.
  std::vector<Digest> did;
  Verdict verdict;
  std::string promised;  // Lines printed, if they are promises.
  std::size_t callers = 0;
};

// Fills `did` from the rest.
void DigestChanges(ProgramRun& run, const ContentStore& store);

class AnswerTree {
 public:
  class Node {
   public:
    // A run that came through here.
    [[nodiscard]] const ProgramRun& run() const { return *run_; }
    // The program has ended.
    [[nodiscard]] bool leaf() const { return place_ == run_->asked.size(); }
    // What it asks next. Requires !leaf().
    [[nodiscard]] const Asked& next() const { return run_->asked[place_]; }
    // Null where no run has gone.
    [[nodiscard]] Node* Find(const Digest& answer) const;

   private:
    friend class AnswerTree;
    std::shared_ptr<const ProgramRun> run_;
    std::size_t place_ = 0;
    std::unordered_map<Digest, std::unique_ptr<Node>> answers_;
  };

  [[nodiscard]] Node* root() const { return root_.get(); }
  [[nodiscard]] std::uint64_t leaves() const { return leaves_; }

  // Adds a run. Returns what contradicts the tree, for a message; empty if nothing does.
  [[nodiscard]] std::string Add(std::shared_ptr<const ProgramRun> run);

 private:
  [[nodiscard]] static std::string Difference(const Node& node, const ProgramRun& run,
                                              std::size_t place);

  std::unique_ptr<Node> root_;
  std::uint64_t leaves_ = 0;
};

}  // namespace tornfs::harness
