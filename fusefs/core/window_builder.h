// WindowBuilder: cuts the pending effects of a base into the nodes of a window.
//
// Walks the effects in order over a tree that has every earlier one, so that it can see which cells
// an effect really changes, and remembers the newest node of each cell, which the next version of
// that cell requires. What else a node requires, and what it is bundled with, are the model's
// rules:
//
//   window_builder.cc   the walk, entries and values
//   window_data.cc      data and sizes
//   window_rules.cc     bundles, the journal's order, and what renames and freed blocks add
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "fusefs/core/window.h"

namespace tornfs {

class WindowBuilder {
 public:
  explicit WindowBuilder(Window& window);
  void Build();

 private:
  // The newest nodes that wrote data of one file.
  struct FileCells {
    std::map<std::uint64_t, std::uint32_t> by_unit;
    struct Run {
      std::uint64_t begin, end;
      std::uint32_t node;
    };
    std::vector<Run> runs;  // Nodes that dropped a run of units, oldest first.
    std::unordered_set<std::uint64_t> fresh_pages;  // That a pending write found without a block.
  };

  // What effects of one op share a node for.
  enum class Bundle : std::uint8_t {
    kWrite,      // A write that is never torn.
    kCall,       // All that the op has in the journal.
    kGroup,      // `part` is the GroupTag.
    kFresh,      // `part` counts runs of new blocks.
    kOverwrite,  // Old blocks.
    kBlock,      // `part` is the block of a write through the journal.
    kSize,       // `part` counts steps.
  };

  // A slice of data that the current op wrote.
  enum class Block : std::uint8_t { kFresh, kTail, kInside };  // kTail: the old last one.
  struct Piece {
    Ino ino;
    std::uint64_t begin;
    std::uint32_t node;
    Block block;
  };

  // What is known of the op being placed.
  struct CurrentOp {
    OpNumber number = 0;
    bool writes = false;     // It makes a file grow by writing.
    bool overtakes = false;  // It may survive before older calls; younger ones wait for both.
    std::optional<std::uint32_t> replaces;  // The effect by which a rename takes a name over.
    Ino ino = kNoIno;                       // The file it writes to,
    std::uint64_t size_before = 0;          // and how large that was.
    std::vector<Piece> pieces;
    std::vector<std::pair<std::uint32_t, std::uint64_t>> sizes;  // Effects, each with the old size.
    // What the op's call requires: blocks that it frees shown stale, an early truncated tail.
    std::vector<std::uint32_t> waits_for;
  };

  // --- the walk (window_builder.cc) ---
  void StartOp(std::uint32_t effect);
  void EndOp();
  void Place(std::uint32_t effect);
  void PlaceEntry(std::uint32_t effect);
  void PlaceValue(std::uint32_t effect);
  void PlaceXattr(std::uint32_t effect);
  [[nodiscard]] bool Unreachable(const Effect& effect) const;
  void SortNodes();
  void Finish();

  // --- data and sizes (window_data.cc) ---
  void PlaceData(std::uint32_t effect);
  void PlaceSlice(std::uint32_t effect, std::uint64_t begin, std::uint64_t end);
  void PlaceDrop(std::uint32_t effect, std::uint32_t node);
  void PlaceTail(std::uint32_t effect);
  void PlaceWrittenSize(std::uint32_t effect, std::uint64_t before);
  void PlaceSizeStep(std::uint32_t effect, std::uint64_t step, std::uint64_t value);
  [[nodiscard]] bool Changes(const Effect& effect, std::uint64_t begin, std::uint64_t end) const;
  // Whether the page of `at` has no block when the current effect is made.
  [[nodiscard]] bool Unmapped(Ino ino, std::uint64_t at) const;
  [[nodiscard]] Block BlockAt(const Effect& effect, std::uint64_t begin);
  [[nodiscard]] std::uint32_t DataNode(std::uint32_t effect, std::uint64_t begin, Block block);
  [[nodiscard]] std::uint32_t StaleNode(std::uint32_t effect, Ino ino, std::uint64_t begin,
                                        std::uint64_t end);
  // Ties `node` to the newest node of the cells in [begin, end).
  void RequireCells(std::uint32_t node, FileCells& cells, std::uint64_t begin, std::uint64_t end);
  // The end of the old last block, if that is in place and the op writes beyond what it held; or 0.
  [[nodiscard]] std::uint64_t TailEnd() const;

  // --- rules (window_rules.cc) ---
  // The node that `effect` belongs to: that of its bundle, if it has one, or a new one.
  [[nodiscard]] std::uint32_t NodeFor(std::uint32_t effect);
  [[nodiscard]] std::uint32_t NodeOf(Bundle bundle, std::uint64_t part, bool chained);
  [[nodiscard]] std::uint32_t NewNode(bool chained);
  [[nodiscard]] bool Ordered(std::uint32_t effect) const;
  void AddPart(std::uint32_t node, const Part& part);
  void Require(std::uint32_t node, std::uint32_t earlier);
  // Looks at both halves of a rename before any is placed.
  void PrepareRename(std::uint32_t first);
  void AddRemoval(std::uint32_t effect);
  [[nodiscard]] bool MayLoseReplacement(const Effect& effect) const;
  [[nodiscard]] bool YoungerEntryDurable(const Effect& effect) const;
  void WaitForReplacement(std::uint32_t effect, std::uint32_t node);
  // The blocks of `ino` from `begin` on are free: others may write to them.
  void FreeBlocks(std::uint32_t effect, Ino ino, std::uint64_t begin);
  [[nodiscard]] bool Logged(Ino ino) const;
  [[nodiscard]] bool Overtakes(Ino ino) const;

  Window& window_;
  const Model& model_;
  Tree tree_;  // With every effect placed so far.
  std::uint64_t unit_;
  std::unordered_set<Ino> reachable_;
  std::unordered_map<Ino, FileCells> files_;
  std::map<std::pair<Ino, std::string>, std::uint32_t> entries_;
  std::map<std::pair<Ino, std::string>, std::uint32_t> xattrs_;
  std::map<std::pair<Ino, CellKind>, std::uint32_t> values_;
  std::map<std::tuple<OpNumber, Bundle, std::uint64_t>, std::uint32_t> bundles_;
  CurrentOp op_;
  // Where there is an order: the nodes of the last op in it, and of the current one.
  std::vector<std::uint32_t> previous_op_;
  std::vector<std::uint32_t> this_op_;
};

}  // namespace tornfs
