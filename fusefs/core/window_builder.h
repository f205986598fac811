// WindowBuilder: cuts the pending effects of a base into the nodes of a window.
//
// Walks the effects in order over a tree that has every earlier one, so that it can see which cells
// an effect really changes, and remembers the newest node of each cell, which the next version of
// that cell requires.
#pragma once

#include <cstdint>
#include <map>
#include <string>
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
  };

  void Place(std::uint32_t effect);
  void PlaceData(std::uint32_t effect);
  void PlaceSlice(std::uint32_t effect, std::uint64_t begin, std::uint64_t end);
  void PlaceDrop(std::uint32_t effect, std::uint32_t node);
  void PlaceEntry(std::uint32_t effect);
  void PlaceValue(std::uint32_t effect);
  void PlaceXattr(std::uint32_t effect);
  [[nodiscard]] bool Changes(const Effect& effect, std::uint64_t begin, std::uint64_t end) const;
  [[nodiscard]] bool Unreachable(const Effect& effect) const;

  // The node that `effect` belongs to: that of its group, if the model keeps it whole, or a new
  // one.
  [[nodiscard]] std::uint32_t NodeFor(const Effect& effect);
  void AddPart(std::uint32_t node, std::uint32_t effect, std::uint64_t begin, std::uint64_t end);
  void Require(std::uint32_t node, std::uint32_t earlier);

  Window& window_;
  Tree tree_;  // With every effect placed so far.
  std::uint64_t unit_;
  std::unordered_set<Ino> reachable_;
  std::unordered_map<Ino, FileCells> files_;
  std::map<std::pair<Ino, std::string>, std::uint32_t> entries_;
  std::map<std::pair<Ino, std::string>, std::uint32_t> xattrs_;
  std::map<std::pair<Ino, CellKind>, std::uint32_t> values_;
  std::map<std::pair<OpNumber, GroupTag>, std::uint32_t> groups_;
  // With Order::kTotal: the nodes of the op before the current one, and of the current one.
  std::vector<std::uint32_t> previous_op_;
  std::vector<std::uint32_t> this_op_;
};

}  // namespace tornfs
