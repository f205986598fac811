// UndecidedWorld: a world after crashes of which some things are still open.
//
// A power loss keeps a set of a window's nodes that is closed under "requires". As long as nobody
// has asked, it is known only that the set lies between two such sets, `lowest` and `highest`: what
// is in both is kept, what is in neither is lost, the rest is undecided. To decide a node is to
// move one of them: a node that is kept takes with it what it requires, a node that is lost what
// requires it. So every world between the two is legal, and every choice of what to decide next
// leaves a smaller interval of the same kind.
//
// A world can have been through several power losses, each with what the program did before it:
// layers, oldest first. What is undecided in one stays undecided through the next.
//
// The tree of a world (Build) has everything undecided lost. It is right for every cell that has
// been decided, and for a cell that what is undecided cannot reach.
//
// Cost: Build is that of Window::State for each layer. Copies share windows and histories.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fusefs/core/question.h"
#include "fusefs/core/recording.h"
#include "fusefs/core/state_count.h"
#include "fusefs/core/window_index.h"

namespace tornfs {

// The beginning of a recording: what a program has done by some point. Effects that were pending
// when it started do not count.
struct Done {
  std::shared_ptr<const Recording> recording;  // Null: nothing.
  std::uint32_t effects = 0;
  std::uint32_t births = 0;
};

[[nodiscard]] Done AllOf(std::shared_ptr<const Recording> recording);

// Does to `tree` what `done` says, from `since` on, which is an earlier point of the same
// recording.
void Redo(const Done& done, Tree& tree, const Done& since = {});

class UndecidedWorld {
 public:
  // Nothing is open.
  explicit UndecidedWorld(Tree tree) : start_(std::move(tree)) {}
  // A first power loss: everything about it is open.
  explicit UndecidedWorld(std::shared_ptr<const WindowIndex> window);

  // All that `recording` holds happened, and the machine went on.
  void GoOn(std::shared_ptr<const Recording> recording);
  // The power failed at `cut` of `recording`, a history that began in this world; `window` is the
  // window there in one of the worlds that this one stands for.
  void LosePower(std::shared_ptr<const Recording> recording, OpNumber cut,
                 std::shared_ptr<const WindowIndex> window);

  [[nodiscard]] Tree Build() const;
  [[nodiscard]] bool decided() const;
  // The number of ways in which what is open can be decided; empty if that is too hard to count.
  [[nodiscard]] std::optional<BigCount> States() const;

  // The power losses, oldest first, and the two ends of the interval of each.
  struct Interval {
    std::shared_ptr<const WindowIndex> window;
    Choice lowest;
    Choice highest;
  };
  [[nodiscard]] std::vector<Interval> Intervals() const;
  // Decides power loss number `layer`. Requires that `choice` is legal and within the interval.
  void Decide(std::size_t layer, const Choice& choice);

  struct Option;
  // Every answer that `question` can get in the worlds this one stands for, after `done`, with the
  // worlds that give it: a partition. Nothing is decided that the answer does not depend on, and
  // equal answers next to each other are one option. An answer can occur more than once. The first
  // option is the one with the least kept. `tree` is Build() after `done`.
  // Empty if there are more than `limit`.
  [[nodiscard]] std::optional<std::vector<Option>> Options(const Question& question,
                                                           const Done& done, const Tree& tree,
                                                           const ContentStore& store,
                                                           const WorldFacts& facts,
                                                           std::size_t limit) const;

 private:
  struct Layer {
    // What was done before: with a cut, only what had become durable by then.
    std::shared_ptr<const Recording> recording;
    OpNumber cut = kNever;
    // The power loss after it; null for none.
    std::shared_ptr<const WindowIndex> window;
    Choice lowest;
    Choice highest;

    [[nodiscard]] bool IsOpen(std::uint32_t node) const {
      return highest.kept[node] && !lowest.kept[node];
    }
    void Keep(std::uint32_t node);
    void Lose(std::uint32_t node);
  };
  struct Split;
  [[nodiscard]] std::optional<std::pair<std::size_t, std::uint32_t>> NextOpen(
      const Question& question, const Tree& tree) const;

  std::optional<Tree> start_;  // None when the first layer's window has it.
  std::vector<Layer> layers_;
};

struct UndecidedWorld::Option {
  UndecidedWorld world;
  Tree tree;  // Of `world`, after what was done.
  Digest answer;
};

}  // namespace tornfs
