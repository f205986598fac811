// LazyExplorer: tries every crash state that recovery and check could tell apart, and no other.
//
// Where the Explorer (explorer.h) starts programs on one crash state after another, this one starts
// them on a world in which nothing is decided yet (fusefs/core/undecided.h): it follows the
// program's AnswerTree from question to question, splits the world by the answers that are
// possible, and starts the program only where the tree ends, on the state with the least kept. What
// comes out at a leaf holds for every state that gives these answers. The tree is the same for all
// branches, windows, crash points and depths, so most leaves cost no process at all. (Stateless
// model checking; for persistent memory Gorjiara et al., "Jaaru", ASPLOS 2021.)
//
// A power loss inside recovery starts from a leaf: what recovery never asked about is still open.
// Only cells that it overwrote without having looked are decided first, since what is lost of such
// a write depends on what was there.
//
// It holds for programs that are functions of what they are told. Every run is compared with the
// tree, and a seeded part of the leaves that needed no run is run all the same. At the first
// difference sharing has ended: the units have to be explored again by the Explorer.
//
// Threads: none; one per worker process. The workers tell each other of their runs (run_board.h),
// so their trees are the same but for what is under way.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fusefs/core/undecided.h"
#include "harness/explore/answer_tree.h"
#include "harness/explore/campaign.h"
#include "harness/explore/explorer.h"
#include "harness/explore/run_board.h"
#include "harness/explore/shared_state.h"

namespace tornfs::harness {

class LazyExplorer {
 public:
  // Told of every failing leaf: the plan of one of its states, and how many there are.
  using OnViolation =
      std::function<Status(const Plan& plan, const Verdict& verdict, std::uint64_t states)>;

  // Runs are told to, and learnt from, the other workers at `board`; `worker` tells them apart.
  LazyExplorer(const Campaign& campaign, Stage& stage, SharedState& shared, RunBoard& board,
               std::uint32_t worker, OnViolation on_violation);

  // Errors: those of the stage, and those of the callback. Does nothing once difference() says
  // something.
  [[nodiscard]] Status Explore(const Unit& unit);

  // How the programs were seen to be no functions of what they are told; empty: they were not.
  [[nodiscard]] const std::string& difference() const { return difference_; }

  // The legal states at the crash point explored last, exactly; empty if they are too hard to
  // count.
  [[nodiscard]] const std::optional<BigCount>& legal() const { return legal_; }

 private:
  enum Program : std::uint8_t { kRecovery, kCheck };

  // A world, and all that a program in it could learn.
  struct Place {
    UndecidedWorld world;
    std::optional<Base> exact;  // After a kill: what is pending is part of the world.
    std::string promises;
    OpNumber next_op = 1;
    Ino next_ino = kNoIno;
    std::vector<Step> steps;  // What led here; choices are those of `world`.
    bool executed = false;    // A program was started for it.

    [[nodiscard]] WorldFacts Facts() const { return {next_ino, Hash128(promises)}; }
  };
  // How much a window may still cost: ends, and ends that are violations.
  struct Allowance {
    std::uint64_t leaves = 0;
    std::uint64_t violations = 0;
    bool used_up = false;
  };
  using OnLeaf = std::function<Status(Place place, const ProgramRun& run)>;
  // Where a program is: in the tree, or where it ends.
  struct Progress {
    AnswerTree::Node* parent = nullptr;  // Null at the start.
    Digest answer;                       // That `parent` got.
    Tree tree;                           // Of the world's lowest state, after `done`.
    Done done;
    bool executed = false;  // The program was started for this part of the world.
  };

  [[nodiscard]] bool stopped() const { return !difference_.empty() || shared_.stopped(); }
  // Tries the window of the last power loss of `place`: whole, or by families when that is too
  // much.
  [[nodiscard]] Status TryWindow(const Place& place, std::uint64_t leaves, unsigned power_left);
  [[nodiscard]] Status AfterCrash(const Place& place, unsigned power_left, Allowance& allowance);
  [[nodiscard]] Status CrashAgain(const Place& place, const ProgramRun& run,
                                  const std::string& promised_before, unsigned power_left,
                                  Allowance& allowance);
  [[nodiscard]] Status CrashDecided(const Place& place, const ProgramRun& run,
                                    const std::string& promised_before, unsigned power_left);
  [[nodiscard]] Status Follow(const Place& place, Program program, Allowance& allowance,
                              const OnLeaf& on_leaf);
  [[nodiscard]] Status Descend(Place place, Program program, Progress at, Allowance& allowance,
                               const OnLeaf& on_leaf);
  [[nodiscard]] Status Leaf(Place place, Program program, const AnswerTree::Node& node,
                            bool executed, Allowance& allowance, const OnLeaf& on_leaf);
  void CountOverdecided(const Question& question,
                        const std::vector<UndecidedWorld::Option>& options);
  void Add(Program program, std::shared_ptr<const ProgramRun> run);
  // Adds what other workers have run.
  void Learn();
  // Starts the program in the lowest state of `place` and adds the run to its tree.
  [[nodiscard]] Status Execute(const Place& place, Program program);
  [[nodiscard]] Status Judged(const Place& place, const Verdict& verdict, Allowance& allowance);
  [[nodiscard]] Plan PlanOf(const Place& place) const;
  // The lowest state of `place`.
  [[nodiscard]] Base BaseOf(const Place& place) const;
  // The history of `run` as it would be in the lowest state of `place`.
  [[nodiscard]] std::shared_ptr<const Recording> Rebase(const Place& place,
                                                        const ProgramRun& run) const;

  const Campaign& campaign_;
  Stage& stage_;
  SharedState& shared_;
  RunBoard& board_;
  std::uint32_t worker_;
  std::uint64_t board_position_ = 0;
  OnViolation on_violation_;
  AnswerTree trees_[2];
  std::string difference_;
  std::optional<BigCount> legal_;
  std::uint64_t shared_leaves_ = 0;
};

}  // namespace tornfs::harness
