// Window: everything a power loss at one cut can do.
//
// The pending effects at the cut are cut into cells and grouped into nodes: the things that survive
// or are lost by themselves. A node requires others: the earlier version of each of its cells, and
// what the model orders before it. A crash state keeps a set of nodes that is closed under
// "requires"; any such set is legal and no other is. These sets form a distributive lattice: the
// empty set is the state that lost everything unsynced, the full set a clean stop, unions and
// intersections of legal sets are legal.
//
// Where a filesystem has a hidden commit point (Btrfs, F2FS), a state is a prefix of the calls up
// to it and, beside that, what each fsync after it made durable. What fsync made durable is in the
// base already, so the commit point is the length of the chain of journalled nodes that is kept:
// the union over all commit points is one lattice, and there is nothing to decide beforehand.
//
// Fault model (numbered for reports; the device assumptions are named in docs/crash-models.md)
//   1 a node is kept or lost whole;
//   2 with Tear::kByte, the data of a lost node whose requirements are all kept may be present up
//   to
//     some byte;
//   3 a unit of data that was never written reads as zeros (or, where the model says so, as
//     ContentStore::kStale); bytes beyond a file's size are gone;
//   4 an inode without a name is gone.
// A write that leaves a cell as it was makes no node: losing it cannot be seen.
//
// Windows and choices are values; a state is built from them in time proportional to the nodes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/result.h"
#include "common/rng.h"
#include "fusefs/core/model.h"
#include "fusefs/core/recording.h"

namespace tornfs {

// What a part puts into the tree.
enum class PartKind : std::uint8_t {
  kMade,      // What the effect made; of data, bytes [begin, end).
  kSizeStep,  // The size `end`, on the way to the one the effect made.
  kRemoval,   // The effect's entry gone: a moment of a rename that replaces.
  kStale,     // Bytes [begin, end) of `ino` as the disk held them before. Never more than a page.
};

// A part of an effect that belongs to one node.
struct Part {
  std::uint32_t effect = 0;  // Index into Window::effects().
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  PartKind kind = PartKind::kMade;
  Ino ino = kNoIno;                      // kStale.
  std::uint32_t hidden_by = UINT32_MAX;  // kStale: not there when this node is kept.
};

struct Node {
  OpNumber op = 0;
  std::vector<Part> parts;               // In the order of effects.
  std::vector<std::uint32_t> requires_;  // Nodes, by index, all lower than this one's.
};

// Which nodes survive, and what is left of torn ones.
struct Choice {
  std::vector<bool> kept;  // By node; closed under "requires".
  // A lost node of which the first `bytes` of its data are there. Only with Tear::kByte.
  struct Torn {
    std::uint32_t node;
    std::uint64_t bytes;  // 0 < bytes < the node's data.
    friend bool operator==(const Torn&, const Torn&) = default;
  };
  std::vector<Torn> torn;
  friend bool operator==(const Choice&, const Choice&) = default;
};

class Window {
 public:
  // `store` must outlive the window.
  Window(Base base, const Model& model, Tear tear, const ContentStore& store);

  [[nodiscard]] std::span<const Node> nodes() const { return nodes_; }
  [[nodiscard]] std::span<const Effect> effects() const { return base_.pending; }
  [[nodiscard]] const Base& base() const { return base_; }
  [[nodiscard]] Tear tear() const { return tear_; }

  [[nodiscard]] Choice None() const { return {std::vector<bool>(nodes_.size(), false), {}}; }
  [[nodiscard]] Choice All() const { return {std::vector<bool>(nodes_.size(), true), {}}; }
  [[nodiscard]] bool Legal(const Choice& choice) const;

  // Adds to `choice` all that its kept nodes require / drops what requires a lost node.
  void CloseDown(Choice& choice) const;
  void CloseUp(Choice& choice) const;

  // A seeded legal choice that keeps long chains and drops single nodes far more often than uniform
  // subsets would: every node gets a priority, one threshold is drawn, and a node survives if it
  // and all it requires lie below. One draw in four leans to nearly everything kept, one to nearly
  // everything lost. With Tear::kByte one lost node in four is torn.
  [[nodiscard]] Choice Random(Rng& rng) const;

  // The cuts at which tearing node `node` shows: byte counts after which the next byte written
  // differs from what was there. Empty unless the tearing is by byte and the node is data.
  [[nodiscard]] std::vector<std::uint64_t> TearCuts(std::uint32_t node) const;

  // The number of legal choices (torn ones aside), if it is at most `limit`.
  [[nodiscard]] std::optional<std::uint64_t> Count(std::uint64_t limit) const;
  // Every legal choice, in a fixed order. Requires that Count(limit) has a value.
  [[nodiscard]] std::vector<Choice> Enumerate(std::uint64_t limit) const;

  // The tree after the power loss. Requires a legal choice.
  [[nodiscard]] Tree State(const Choice& choice) const { return StateOver(base_.durable, choice); }
  // The same with `durable` in place of the base's durable tree: for a window that stands for those
  // of several worlds which differ in nothing its effects touch.
  [[nodiscard]] Tree StateOver(Tree durable, const Choice& choice) const;

  // "write wal/1 4096 B at 8192", "entry tmp/a removed by rename", ...: node `node` for a person.
  [[nodiscard]] std::string Describe(std::uint32_t node) const;
  // The same for nodes `first` to `last`, pieces of one write that lie one behind the other.
  [[nodiscard]] std::string DescribeBytes(std::uint32_t first, std::uint32_t last) const;
  // True if `node` + 1 is the next piece of the write that `node` is a piece of.
  [[nodiscard]] bool GoesOn(std::uint32_t node) const;

  // `choice` as text that ChoiceOf turns back: short, printable, free of blanks.
  [[nodiscard]] std::string Token(const Choice& choice) const;
  // Errors: kInvalid for text that is no token of this window or not legal in it.
  [[nodiscard]] Result<Choice> ChoiceOf(std::string_view token) const;

 private:
  Base base_;
  const Model* model_;
  Tear tear_;
  const ContentStore* store_;
  std::vector<Node> nodes_;
  // Every part of every node, in the order of effects: how a state is built.
  struct Step {
    std::uint32_t node;
    Part part;
  };
  std::vector<Step> steps_;
  // Whether part of the node's data can be there: it is one run of bytes.
  [[nodiscard]] bool Tearable(std::uint32_t node) const;
  // `tree` with what `choice` keeps, not yet clipped.
  [[nodiscard]] Tree Build(Tree tree, const Choice& choice) const;

  std::vector<Ino> clipped_;       // Files whose bytes beyond the size are to go.
  bool directories_move_ = false;  // Link counts must be taken anew in each state.
  Tree all_;                       // Everything kept: what reports call things by.
  friend class WindowBuilder;
};

}  // namespace tornfs
